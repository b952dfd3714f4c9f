"""Tests of ``iostudy selftest`` as a user calls it: output and exit codes."""

from __future__ import annotations

import json

import pytest
import typer

from iostudy.cli.selftest import FAILED_EXIT, UNDECIDED_EXIT, selftest
from iostudy.study import library

SHORT = {"64MiB": "1MiB", "mode: auto, time: 30s": "mode: trials, blocks: [3, 3]"}


@pytest.fixture
def short(tmp_path, monkeypatch):
    """The ready-made study, in seconds: what it finds depends on the machine, not what it says."""
    text = (library.FOLDER / "selftest.yaml").read_text()
    for usual, quick in SHORT.items():
        assert usual in text
        text = text.replace(usual, quick)
    (tmp_path / "selftest.yaml").write_text(text)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(tmp_path / "locks"))
    return tmp_path


def ended(**options) -> int:
    try:
        selftest(seed=None, **options)
    except typer.Exit as exited:
        return exited.exit_code
    return 0


@pytest.mark.child  # the watchdog
def test_expectations_are_printed_and_the_exit_code_is_the_outcome(short, capsys):
    options = {"target": short / "scratch", "out": short / "out"}
    code = ended(**options, resume=False, json=True)
    document = json.loads(capsys.readouterr().out)
    codes = {"passed": 0, "failed": FAILED_EXIT, "undecided": UNDECIDED_EXIT}
    assert code == codes[document["outcome"]]
    assert [each["expected_change"] for each in document["expectations"]] == [0, -0.05, -0.1]
    assert {path.name for path in (short / "out").iterdir()} >= {"ledger.sqlite", "report.html"}
    assert list((short / "scratch").iterdir()) == []
    assert ended(**options, resume=True, json=False) == code
    again = capsys.readouterr().out
    assert "no different" in again
    assert document["told"][:30] in again
