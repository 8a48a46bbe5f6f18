# SPDX-License-Identifier: MIT
"""Fetches packages of another processor, or their sources, by an apt with lists, state and cache of
its own, so that this machine's packages stay as they are: to add an architecture to dpkg would change
it for everybody. Where packages come from is what apt has for this machine.
"""

import re
import subprocess

from lab import say

# Of Debian's archive alone, whatever else this machine installs from.
WHERE = ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]
OF_DEBIAN = ["Created-By: Packages", "Origin: Debian"]
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Apt:
    def __init__(self, processor, top, kind="deb"):
        for folder in ("lists/partial", "cache/archives/partial"):
            (top / folder).mkdir(parents=True, exist_ok=True)
        (top / "status").touch()
        (top / "sources.list").write_text(_sources(processor, kind))
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

    def fetch_with_needs(self, *packages):
        """They and what they depend on, as for a machine where nothing is installed."""
        fetch = ("install", "--download-only", "--yes", "--no-install-recommends", *packages)
        _output("apt-get", *self.options, *fetch)
        return sorted((self.top / "cache/archives").glob("*.deb"))

    def fetch_source(self, package):
        """The archive as its authors made it: Debian's patches are left out."""
        fetch = ("source", "--download-only", "--only-source", package)
        _output("apt-get", *self.options, *fetch, cwd=self.top)
        (found,) = self.top.glob(f"{package}_*.orig.tar.*")
        return found


def _sources(processor, kind):
    lines = set()
    for line in _output("apt-get", *WHERE, *OF_DEBIAN).splitlines():
        uri, release, component = line.split()
        if "-" not in release:  # nor its updates: a mirror has those of few processors in step
            release = processor.release or release
            lines.add(f"{kind} [signed-by={KEYRING}] {uri} {release} {component}\n")
    if not lines:
        raise SystemExit("guests: apt knows no archive of Debian's (apt-get update)")
    return "".join(sorted(lines))


def _output(*command, cwd=None):
    done = subprocess.run(command, check=False, text=True, capture_output=True, cwd=cwd)
    if done.returncode != 0:
        say(done.stdout + done.stderr)
        raise SystemExit(f"guests: {command[0]} failed: {command[-1]}")
    return done.stdout
