# SPDX-License-Identifier: MIT
"""Other people's ways to wait beside ours: how exactly, and at what use of the CPU."""
