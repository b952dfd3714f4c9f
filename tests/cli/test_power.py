"""``iostudy power`` as a user calls it."""

from __future__ import annotations

import json

from tests.cli.test_commands import WITHOUT_ROOT


def test_power_runs_the_baseline_twice_and_reports_detectable_effects(program):
    program.write(WITHOUT_ROOT)
    done = program("power", "study.yaml", "--blocks", "3", "--out", "out", "--budget", "1h")
    assert done.returncode == 0, done.stderr
    assert "file-reads: noise " in done.stdout
    assert "1 h 00 min is enough for" in done.stdout
    report = json.loads((program.out / "report.json").read_text())
    assert {trial["configuration"] for trial in report["trials"]} == {"baseline", "the same again"}
    assert program.residue() == []


def test_power_has_json_output_and_can_be_resumed(program):
    program.write(WITHOUT_ROOT)
    arguments = ("power", "study.yaml", "--blocks", "3", "--out", "out", "--json")
    first = program(*arguments)
    assert first.returncode == 0, first.stderr
    again = program(*arguments, "--resume")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    assert json.loads(first.stdout)["budget"] is None


def test_a_budget_that_is_no_time_is_refused(program):
    program.write(WITHOUT_ROOT)
    done = program("power", "study.yaml", "--budget", "2 fortnights")
    assert done.returncode == 2
    assert "such as 30s" in done.stderr
