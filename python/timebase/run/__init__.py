# SPDX-License-Identifier: MIT
"""The TOML calendar of `timebase run`.

- From the text to what it says, faults with their lines: toml, places, source, values,
  description, complaints.
- What units do, made ready beforehand: action, nothing,
  shared_object, script, program; ready.
- The run, its threads and signals: session, dispatcher, assembly, launches, watchdog, signals.
- What became of it: recorder, histogram, admission, outcome, table, plot, show.
"""
