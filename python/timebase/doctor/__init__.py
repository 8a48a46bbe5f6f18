# SPDX-License-Identifier: MIT
"""Can this machine's clock be trusted? Facts (facts.py) and what follows from them (findings.py).

Whether it is fit for work at an exact instant, realtime/ says, and whether a clock is shared safely,
shared/: neither makes a machine not ready.
"""
