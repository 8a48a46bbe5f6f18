# SPDX-License-Identifier: MIT
"""The clock that processes share: whether there is a daemon, its page is safe, and chrony fits.

page.py, chrony.py and drift.py each look at one thing and say what follows. None of this makes a
machine not ready: without a daemon every process keeps a clock of its own.
"""
