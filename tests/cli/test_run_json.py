"""Tests of ``iostudy run --json``: one document on stdout, in the form of its schema."""

from __future__ import annotations

import json

import pytest

from iostudy.cli.run_json import StudyRunReport, build_document
from iostudy.report.render import json_
from tests.cli.test_giving_up import FAILING
from tests.json_schema import assert_conforms
from tests.report.factory import STARTED_AT
from tests.report.topics.test_switchback import WORKLOAD, report, run

STUDY = """\
question: Which?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 1MiB}}]
decide: {margin: 0.001%, risk: 0.1%, blocks: [3, 4]}
"""
SCHEMA = json_.build_schema(StudyRunReport)


def read(done):
    document = json.loads(done.stdout)
    assert_conforms(document, SCHEMA)
    assert document["exit_code"] == done.returncode
    return document


def test_stdout_is_one_document_with_the_verdicts_of_the_report(program):
    program.write(STUDY)
    done = program.run_study("--json", "--fail-on", "inconclusive")
    document = read(done)
    (verdict,) = document["verdicts"]
    full = json.loads((program.out / "report.json").read_text())
    named = {"workload": "file-reads", "figure": "bandwidth", "is_guard": False}
    assert {**named, **full["workloads"][0]["results"][1]} == verdict
    assert document["exit_code"] == (1 if verdict["verdict"] == "inconclusive" else 0)
    run_seconds = sum(trial["phases"]["run"] for trial in full["trials"])
    assert document["measuring_seconds"] == pytest.approx(run_seconds)
    assert run_seconds > 0
    assert document["folder"] == str(program.out)
    again = read(program.run_study("--json", "--resume"))
    assert again["verdicts"] == document["verdicts"]


@pytest.mark.child
def test_study_that_fails_has_a_document_with_its_exit_code(program):
    program.write(FAILING)
    done = program.run_study("--json")
    document = read(done)
    assert document["exit_code"] == 3
    assert [own["workload"] for own in document["given_up"]] == ["fails"]
    assert {own["workload"]: own["blocks"] >= 3 for own in document["verdicts"]} == {
        "sleeps": True,
        "fails": False,
    }


def test_a_study_that_does_not_begin_prints_nothing_on_stdout(program):
    program.write(STUDY.replace("io:", "no-such-workload:"))
    done = program.run_study("--json")
    assert (done.returncode, done.stdout) == (2, "")


def test_windows_count_as_measuring(tmp_path):
    runs = [run(STARTED_AT), run(STARTED_AT + 50)]
    seconds = sum(own.summary.seconds for own in runs)
    document = build_document(report(runs=runs), tmp_path, 0)
    (own,) = document.workloads
    assert (own.windows_seconds, own.trials_seconds) == pytest.approx((seconds, 0.0))
    assert document.measuring_seconds == own.measuring_seconds == pytest.approx(seconds)
    assert seconds > 0
    assert [verdict.workload for verdict in document.verdicts] == [WORKLOAD] * 2
