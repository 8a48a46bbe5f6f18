# SPDX-License-Identifier: MIT
"""A command that is interrupted while it measures."""

import subprocess
import sys


def interrupt(number, folder, measuring, *command):
    """Runs `timebase COMMAND` in the folder and ends it by this signal when it measures: `measuring`
    is code that makes it print the line `begun` then. Returns the exit status."""
    code = f"{measuring}; from timebase.cli import main; main()"
    program = [sys.executable, "-c", code, *command]
    running = subprocess.Popen(
        program, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "begun\n"
    running.send_signal(number)
    running.communicate()
    return running.returncode
