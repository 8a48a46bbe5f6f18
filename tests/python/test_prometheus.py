# SPDX-License-Identifier: MIT
"""The alert rules: of metrics that there are, tried by promtool, and in the playbook."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from timebase.status.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/prometheus"
RULES, TEST = FOLDER / "timebase.rules.yml", FOLDER / "timebase.rules.test.yml"
OTHERS = {"node_textfile_mtime_seconds": ("file",)}
WORD = re.compile(r"[a-zA-Z_]\w*")
LABEL = re.compile(r"\$labels\.(\w+)")


def alerts():
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return group["rules"]


def metrics_of(alert):
    return {word for word in WORD.findall(alert["expr"]) if word.startswith(("timebase_", "node_"))}


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_an_alert_asks_for_metrics_that_there_are_and_labels_that_they_have(alert):
    known = {**METRICS, **OTHERS}
    used = metrics_of(alert)
    assert used and used <= known.keys()
    labels = {label for name in used for label in known[name]} | {"instance"}
    assert set(LABEL.findall(alert["annotations"]["summary"])) <= labels
    assert alert["labels"]["severity"] in ("critical", "warning", "info")


def test_names_are_distinct_and_all_in_the_playbook():
    names = [alert["alert"] for alert in alerts()]
    assert len(names) == len(set(names))
    playbook = (ROOT / "docs/guide/operations.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| `{name}` |" not in playbook] == []
    in_playbook = set(re.findall(r"^\| `(Timebase\w+)`", playbook, re.MULTILINE))
    assert in_playbook == set(names)


def test_every_alert_is_tried_silent_and_firing():
    tests = yaml.safe_load(TEST.read_text(encoding="utf-8"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    names = {alert["alert"] for alert in alerts()}
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == names
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == names


@pytest.mark.parametrize("command", [("check", RULES), ("test", TEST)], ids=lambda one: one[0])
def test_promtool_takes_them(command):
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not here: apt install prometheus")
    what, path = command
    done = subprocess.run(
        ["promtool", what, "rules", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
