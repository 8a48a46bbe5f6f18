# SPDX-License-Identifier: MIT
"""The report: measure.py collects, verdict.py judges, plots.py draws, build.py fills the page."""
