# SPDX-License-Identifier: MIT
"""What `timebase bench` and the report measure of a clock. Each module's run() returns plain data;
the loops are in C (measure/). placement.py says where measurements run.

`doctor` and `accuracy` measure with it too; it imports neither of them.
"""
