# SPDX-License-Identifier: MIT
"""What matters for starting work at an exact instant.

A file for each question: read() gathers facts from a Tree, judge() says what follows from them.
What could not be found out is None, and the findings say so.
"""
