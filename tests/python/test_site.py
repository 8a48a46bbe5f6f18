# SPDX-License-Identifier: MIT
"""The pages of the site (`make site`), as they are laid out for mkdocs: no network is needed for that."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml
from daemons import ROOT

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)|href=\"([^\"#]+)\"")

pytestmark = pytest.mark.skipif(
    not shutil.which("mandoc"), reason="no mandoc: scripts/setup python"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, ROOT / "scripts/site-pages", folder], check=True)
    return folder


def pages(site):
    return {str(path.relative_to(site / "pages")): path for path in site.glob("pages/**/*.md")}


def named(entry):
    """All pages that the table of contents names."""
    if isinstance(entry, str):
        return [entry]
    return [
        name
        for one in (entry.values() if isinstance(entry, dict) else entry)
        for name in named(one)
    ]


def test_every_page_is_in_the_table_of_contents_once_and_the_tutorial_is_first(site):
    contents = named(yaml.safe_load((site / "mkdocs.yml").read_text())["nav"])
    assert contents[0] == "index.md"
    assert sorted(contents) == sorted(pages(site))


def test_every_guide_is_a_page(site):
    guides = {f"guide/{path.name}" for path in ROOT.glob("docs/guide/*.md")}
    assert guides <= set(pages(site))


def test_every_link_leads_to_a_page(site):
    for name, path in pages(site).items():
        text = re.sub(r"^```.*?^```$|`[^`]*`", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        for inline, html in LINK.findall(text):
            target = (inline or html).replace(".html", ".md")
            if "://" not in target:
                found = os.path.normpath(path.parent / target)
                assert os.path.exists(found), f"{name}: {target}"


def test_files_that_texts_name_are_links_but_not_in_code(site):
    text = (site / "pages/index.md").read_text()
    assert "[`docs/guide/read.md`](guide/read.md)" in text
    operations = (site / "pages/guide/operations.md").read_text()
    assert "[`docs/guide/daemon.md`](daemon.md)" in operations
    read = (site / "pages/guide/read.md").read_text()
    assert "[`share.md`](share.md)" in read
    assert "[`stopwatch.h`](../reference/timebase_stopwatch.3.md)" in read


def test_every_function_of_the_headers_is_in_the_reference(site):
    reference = "".join(path.read_text() for path in site.glob("pages/reference/*.md"))
    for header in ("clock", "wait", "timeline"):
        text = (ROOT / f"include/timebase/{header}.h").read_text()
        for function in re.findall(r"^TIMEBASE_API[^;(]*\b(timebase_\w+)\(", text, re.MULTILINE):
            assert function in reference


def test_what_the_pages_fetch_is_theirs(site):
    settings = (site / "mkdocs.yml").read_text()
    assert "font: false" in settings and "offline" in settings
    for name in ("site.css", "iframe-worker.js"):
        assert (site / "pages" / name).exists()
        assert "http" not in (site / "pages" / name).read_text()
