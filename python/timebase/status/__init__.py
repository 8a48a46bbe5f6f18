# SPDX-License-Identifier: MIT
"""Does the daemon's clock deserve trust? What `timebase status` and `timebase watch` look at.

file.py opens what others wrote, page.py and metrics.py read it, compare.py holds it against the
kernel's clock, examine.py collects, judge.py judges.
"""
