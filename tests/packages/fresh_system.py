# SPDX-License-Identifier: MIT
"""A fresh minimal Debian in a folder: made once by mmdebstrap, unpacked for each run. Needs root."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# How this machine reaches the package indexes, where that is not as Debian has it.
NETWORK = re.compile(r"(pip|ssl_cert|requests_ca|https?_proxy|no_proxy)", re.IGNORECASE)
NETWORK_FOLDERS = ("etc/apt", "usr/share/keyrings")
NETWORK_FILES = ("etc/ssl/certs/ca-certificates.crt", "etc/resolv.conf", "etc/hosts")

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, for chroot and namespaces"),
    pytest.mark.skipif(not shutil.which("mmdebstrap"), reason="no mmdebstrap: make packages"),
]


def unpack(name, packages, folder, variant="apt", release=None):
    """A system with these packages in `folder`, of this machine's release or another one, from
    build/NAME-base.tar; remove that to have it made anew."""
    base = ROOT / f"build/{name}-base.tar"
    if not base.exists():
        part = base.with_suffix(".part.tar")
        release = release or platform.freedesktop_os_release()["VERSION_CODENAME"]
        include = f"--include={','.join(packages)}"
        subprocess.run(["mmdebstrap", f"--variant={variant}", include, release, part], check=True)
        part.rename(base)
    subprocess.run(["tar", "-xf", base, "-C", folder, "--exclude=./dev/*"], check=True)
    folder.chmod(0o755)
    return System(folder)


class System:
    """What runs in it sees our kernel's files, and no others."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"}

    def reach_the_network(self):
        """By the same ways as the machine that it is a part of."""
        for name in NETWORK_FOLDERS:
            shutil.copytree(Path("/", name), self.folder / name, dirs_exist_ok=True)
        for name in NETWORK_FILES:
            if Path("/", name).exists():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path("/", name), self.folder / name)
        self.environment |= {key: os.environ[key] for key in os.environ if NETWORK.match(key)}

    def command(self, *words):
        mounts = "".join(
            f"mount --rbind /{name} {self.folder}/{name}; " for name in ("proc", "sys", "dev")
        )
        inside = f'exec chroot {self.folder} env -i "$@"'
        variables = [f"{key}={value}" for key, value in self.environment.items()]
        shell = ["unshare", "--mount", "sh", "-ec", mounts + inside, "sh"]
        return [*shell, *variables, *map(str, words)]

    def run(self, *words):
        return subprocess.run(self.command(*words), capture_output=True, text=True, check=False)

    def must(self, *words):
        done = self.run(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout
