# SPDX-License-Identifier: MIT
"""Programs that cannot be changed, and read the kernel's clocks by the counter: docs/guide/resync.md.

`program` finds a program and looks what it is; `libraries` finds what is put before its C library;
`clocks` tells whether there is anything to gain; `verdict` joins the three; `launch` starts it.
"""
