# SPDX-License-Identifier: MIT
"""A module as DKMS builds it, in trees of our own. As root it signs the module, with the key that it
makes for the machine.
"""

import re
import shutil
import subprocess

from lab import say


def build(sources, release, headers):
    """The module NAME of the folder NAME with sources and a dkms.conf, which gets the name that
    DKMS wants."""
    program = shutil.which("dkms") or shutil.which("dkms", path="/usr/sbin")
    if program is None:
        raise SystemExit("guests: dkms is not installed (scripts/setup kernels)")
    name, version = sources.name, _version(sources)
    sources.rename(sources.with_name(f"{name}-{version}"))
    tree = sources.parents[1] / "tree"
    tree.mkdir()
    done = subprocess.run(
        [
            *(program, "build", "-m", name, "-v", version, "-k", release),
            *("--sourcetree", sources.parent, "--dkmstree", tree),
            *("--kernelsourcedir", headers),
        ],
        check=False,
        text=True,
        capture_output=True,
    )
    found = [*tree.glob(f"{name}/{version}/{release}/*/module/{name}.ko")]
    if done.returncode != 0 or len(found) != 1:
        say(done.stdout + done.stderr)
        raise SystemExit(f"guests: DKMS does not build the module {name}")
    return found[0]


def _version(sources):
    conf = (sources / "dkms.conf").read_text()
    return re.search(r'^PACKAGE_VERSION="(.+)"$', conf, re.MULTILINE).group(1)
