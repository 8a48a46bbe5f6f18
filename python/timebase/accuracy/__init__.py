# SPDX-License-Identifier: MIT
"""How close to its target an event begins: the experiments of the 1997 report on the Pentium Pro,
as far as user space can repeat them, and what the library makes of it (measure/accuracy.h).

experiments.py has the table of experiments, session.py the thread they run on, trials.py the loops
in C; summary.py makes rows of raw errors. Each experiment gives rows and figures, plain data;
timebase.report.panels draws the figures.
"""
