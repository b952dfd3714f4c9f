"""``iostudy power`` as a user calls it."""

from __future__ import annotations

import json

from tests.cli.test_commands import WITHOUT_ROOT


def test_power_runs_the_baseline_twice_reports_detectable_effects_and_can_be_resumed(program):
    program.write(WITHOUT_ROOT)
    arguments = ("power", "study.yaml", "--blocks", "3", "--out", "out")
    first = program(*arguments, "--json")
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["budget"] is None
    again = program(*arguments, "--json", "--resume")
    assert json.loads(again.stdout) == json.loads(first.stdout)
    done = program(*arguments, "--resume", "--budget", "1h")
    assert "file-reads: noise " in done.stdout
    assert "1 h 00 min is enough for" in done.stdout
    report = json.loads((program.out / "report.json").read_text())
    assert {trial["configuration"] for trial in report["trials"]} == {"baseline", "the same again"}
    assert program.residue() == []


def test_a_budget_that_is_no_time_is_refused(program):
    program.write(WITHOUT_ROOT)
    done = program("power", "study.yaml", "--budget", "2 fortnights")
    assert done.returncode == 2
    assert "such as 30s" in done.stderr
