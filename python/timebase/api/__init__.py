# SPDX-License-Identifier: MIT
"""The C library in Python, a file for each public header; `import timebase` gives all names of it.

library.py opens it. errors.py, numbers.py and machine.py are what every room above needs.
"""
