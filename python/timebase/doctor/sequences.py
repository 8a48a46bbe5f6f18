# SPDX-License-Identifier: MIT
"""Does the C library register its threads' restartable sequences? By them the library sees on which
CPU it has read a counter, where no instruction tells.
"""

import ctypes
import struct


def are_registered() -> bool:
    """glibc since 2.35 says so; no other C library does. Those of 32 bits are not used."""
    try:
        size = ctypes.c_uint.in_dll(ctypes.CDLL(None), "__rseq_size").value
    except ValueError:
        return False
    return size > 0 and struct.calcsize("P") == 8
