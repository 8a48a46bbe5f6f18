# SPDX-License-Identifier: MIT
"""The site of build/site (`make site`), opened as a file by a browser that has no network."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "build/site/html"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
# Nothing listens there; without it a page could be fetched that this machine can reach.
NO_NETWORK = "--proxy-server=127.0.0.1:1"

pytestmark = [
    pytest.mark.skipif(not SITE.exists(), reason="none built: make site"),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium here"),
]


def shown(page, folder):
    """What a reader has before him, when all scripts have run."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", NO_NETWORK]
    command += [f"--user-data-dir={folder}", "--virtual-time-budget=60000", "--dump-dom"]
    done = subprocess.run(
        [*command, f"file://{SITE}/{page}"], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("words", "found"), [("timeline", "guide/timeline.html"), ("xyzzyq", None)]
)
def test_a_search_finds_its_page_without_a_network(tmp_path, words, found):
    text = shown(f"index.html?q={words}", tmp_path)
    results = re.findall(r'href="[^"]*/html/([^"?#]*)[^"]*" class="md-search-result__link', text)
    assert (found in results) if found else results == []
    assert "matching document" in text
