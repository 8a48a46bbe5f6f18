# SPDX-License-Identifier: MIT
"""Can this machine's clock be trusted? Facts (facts.py) and what follows from them (findings.py).

realtime/ says whether the machine is fit for work at an exact instant, shared/ whether a clock is
shared safely. No finding of these two makes a machine not ready.
"""
