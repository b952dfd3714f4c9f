"""Tests of ``iostudy report-study``: a field report repeated by its studies."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from iostudy.cli import report_output, report_study
from iostudy.cli.consent import Consent
from iostudy.cli.report_study import PlannedItem, Size, plan_items, run_items
from iostudy.ledger.store import FILE_NAME
from iostudy.study import reference
from iostudy.study.reference import PublishedItem
from tests.cli.program import Program
from tests.report import factory


@pytest.mark.child  # tries mkfs
@pytest.mark.parametrize("name", reference.names())
@pytest.mark.parametrize("size", Size)
def test_every_item_has_a_study_or_a_reason(name, size, tmp_path):
    for own in plan_items(name, size, tmp_path):
        assert bool(own.study) or own.note, own.item.item
        if own.study is not None:
            assert own.command == f"iostudy {own.study.target.command} {own.study.name}"


@pytest.mark.child
def test_the_plan_runs_nothing(program: Program):
    done = program("report-study", "R3", "--size", "smoke", "--plan")
    assert done.returncode == 0
    assert "DRBD below the RAID0: not on this machine, because iostudy makes no DRBD" in done.stderr
    assert done.stdout == ""
    assert not (program.folder / "results").exists()


def test_without_time_a_finished_study_is_shown_and_another_is_not_run(tmp_path, monkeypatch):
    finished = factory.report()
    monkeypatch.setattr(report_output, "read_report", lambda output, name: finished)
    studies = [replace(factory.study(), name=name) for name in ("finished", "other")]
    planned = [PlannedItem(PublishedItem(item=own.name), own, "a note") for own in studies]
    (tmp_path / "finished").mkdir()
    (tmp_path / "finished" / FILE_NAME).touch()
    first, second = run_items(planned, "R3", tmp_path, Consent(), 0.0)
    assert (first.report, first.failed) == (finished, False)
    assert (second.report, second.failed) == (None, False)
    assert second.answer == "not run: no time was left; a note"
    assert not (tmp_path / "other").exists()


def test_simulations_run_first_and_clusters_last_and_items_keep_their_order(tmp_path, monkeypatch):
    kinds = {"cluster": ("hadoop", False), "host": ("", False), "simulated": ("", True)}
    planned = [
        PlannedItem(
            PublishedItem(item=name),
            SimpleNamespace(
                name=name, service=service, target=SimpleNamespace(predicts=predicts, command="run")
            ),
            "",
        )
        for name, (service, predicts) in kinds.items()
    ]
    begun = []
    monkeypatch.setattr(
        report_study, "_run_study", lambda study, *_: begun.append(study.name) or (None, "failed")
    )
    items = list(run_items(planned, "R3", tmp_path, Consent(), 60.0))
    assert begun == ["simulated", "host", "cluster"]
    assert [item.item.item for item in items] == list(kinds)


def test_an_unknown_report_is_refused(program: Program):
    done = program("report-study", "R9")
    assert (done.returncode, done.stdout) == (2, "")
    assert "R1, R2, R3, R4, R5" in done.stderr


@pytest.mark.root
def test_a_report_ends_with_its_items_and_is_resumed(program: Program):
    command = ("report-study", "R3", "--size", "smoke", "--max-time", "3s", "--out", "out")
    done = program(*command)
    assert done.returncode == 0, done.stderr
    page = (program.out / "field-report.md").read_text()
    (line,) = (line for line in page.splitlines() if "what merging" in line)
    assert "iostudy run merging-smoke" in line
    assert (program.out / "raid10-simulated-smoke/report.html").exists()
    before = read_simulation(program)
    again = program(*command)
    assert again.returncode == 0, again.stderr
    after = read_simulation(program)
    if before["state"] == "complete":
        assert after["trials"] == before["trials"]
    else:
        assert len(after["trials"]) > len(before["trials"])
    assert program.residue() == []


def read_simulation(program: Program) -> dict[str, Any]:
    text = (program.out / "raid10-simulated-smoke/report.json").read_text()
    report: dict[str, Any] = json.loads(text)
    return report
