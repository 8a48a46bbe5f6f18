# SPDX-License-Identifier: MIT
"""Debian's packages for another processor, unpacked below build/ and not installed.

apt gets lists, state and cache of its own, so that this machine's packages stay as they are: to add
an architecture to dpkg would change it for everybody. Where packages come from is what apt has for
this machine.
"""

import re
import shutil
import subprocess

from lab import WORK, say

# Of Debian's archive alone, whatever else this machine installs from.
WHERE = ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]
OF_DEBIAN = ["Created-By: Packages", "Origin: Debian"]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def unpacked(processor):
    """The folder with its kernel and its busybox."""
    top = WORK / "debian" / processor.name
    stamp = top / "complete"
    if not stamp.exists():
        say(f"guests: fetching Debian's kernel and busybox for {processor.name}")
        apt = _Apt(processor, top / "apt")
        for package in (apt.needed_by(processor.kernel, "linux-image-"), "busybox-static"):
            _unpack(apt.fetch(package), top / "root")
        shutil.rmtree(apt.top)
        stamp.touch()
    return top / "root"


def _unpack(package, to):
    """The kernel, not its hundreds of megabytes of modules; and programs."""
    to.mkdir(exist_ok=True)
    files = subprocess.run(["dpkg", "--fsys-tarfile", package], check=True, capture_output=True)
    keep = ["--wildcards", "./boot/vmlinu*", "./bin/*", "./usr/bin/*"]
    subprocess.run(
        ["tar", "-x", "-C", to, *keep], check=False, input=files.stdout, stderr=subprocess.DEVNULL
    )
    package.unlink()


def kernel(processor):
    """vmlinuz where it is compressed, vmlinux where it is not."""
    (found,) = (unpacked(processor) / "boot").glob("vmlinu*")
    return found


def busybox(processor):
    root = unpacked(processor)
    return next(path for path in (root / "bin/busybox", root / "usr/bin/busybox") if path.exists())


class _Apt:
    def __init__(self, processor, top):
        for folder in ("lists/partial", "cache/archives/partial"):
            (top / folder).mkdir(parents=True, exist_ok=True)
        (top / "status").touch()
        (top / "sources.list").write_text(_sources(processor))
        self.top = top
        self.options = [
            *("-q", "-o", f"Dir::State={top}", "-o", f"Dir::State::status={top}/status"),
            *("-o", f"Dir::Cache={top}/cache"),
            *("-o", f"Dir::Etc::SourceList={top}/sources.list", "-o", "Dir::Etc::SourceParts=-"),
            *("-o", f"APT::Architecture={processor.name}"),
            *("-o", f"APT::Architectures::={processor.name}"),
            *("-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none"),
        ]
        _output("apt-get", *self.options, "--error-on=any", "update")

    def needed_by(self, package, prefix):
        """The package that it depends on whose name begins so."""
        found = _output("apt-cache", *self.options, "show", "--no-all-versions", package)
        return re.search(rf"^Depends:.*?({prefix}\S+)", found, re.MULTILINE).group(1)

    def fetch(self, package):
        _output("apt-get", *self.options, "download", package, cwd=self.top)
        (found,) = self.top.glob(f"{package}_*.deb")
        return found


def _sources(processor):
    lines = set()
    for line in _output("apt-get", *WHERE, *OF_DEBIAN).splitlines():
        uri, release, component = line.split()
        if "-" not in release:  # nor its updates: a mirror has those of few processors in step
            release = processor.release or release
            lines.add(f"deb [signed-by={KEYRING}] {uri} {release} {component}\n")
    if not lines:
        raise SystemExit("guests: apt knows no archive of Debian's (apt-get update)")
    return "".join(sorted(lines))


def _output(*command, cwd=None):
    done = subprocess.run(command, check=False, text=True, capture_output=True, cwd=cwd)
    if done.returncode != 0:
        say(done.stdout + done.stderr)
        raise SystemExit(f"guests: {command[0]} failed: {command[-1]}")
    return done.stdout
