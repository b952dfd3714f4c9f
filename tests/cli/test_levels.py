"""Whole studies with every form of a factor, from file to report."""

from __future__ import annotations

import pytest

from iostudy.ledger.store import FILE_NAME
from tests.fixtures_loop import queue_state

pytestmark = pytest.mark.root
REST = """
question: Which?
target: {loopback: {size: 64MiB}}
workloads: [{io: {label: file-writes, operation: write, files: 1, size: 1MiB}}]
decide: {margin: 90%, risk: 40%, blocks: [3, 3]}
"""


def settings_by_configuration(program, factors: str) -> dict[str, list[dict[str, str]]]:
    """Run it; the settings of each trial, by the label of its configuration."""
    program.write(factors + REST)
    assert program("check", "study.yaml", "--full").returncode == 0
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert program.residue() == []
    found: dict[str, list[dict[str, str]]] = {}
    for row in program.rows():
        settings = {label.partition("@")[0]: value for label, value in row.settings.items()}
        found.setdefault(row.configuration, []).append(settings)
    return found


def test_schedulers_with_tunables_and_one_setting_as_found(program):
    found = settings_by_configuration(
        program,
        """\
factors:
  block.scheduler: [mq-deadline, bfq]
  block.mq-deadline.read_expire: [100, 500]
  block.bfq.slice_idle: [0, 8]
  block.nr_requests: [as-found]
""",
    )
    for configuration, trials in found.items():
        assert len(trials) == 3
        for settings in trials:
            names = ["block.nr_requests", "block.scheduler"]
            tunable = "mq-deadline.read_expire" if "mq" in configuration else "bfq.slice_idle"
            assert sorted(settings) == sorted([*names, f"block.{tunable}"])
            assert configuration == (
                f"scheduler={settings['block.scheduler']}, "
                f"{tunable.partition('.')[2]}={settings[f'block.{tunable}']}"
            )
            assert settings["block.nr_requests"].isdigit()
    assert len(found) == 4


def test_one_level_on_two_other_devices(program, two_loops):
    before = [queue_state(name) for name in two_loops]
    program.write(
        f"factors:\n  block.scheduler: {{levels: [none, bfq], on: [{', '.join(two_loops)}]}}\n"
        + REST
    )
    output = program("check", "study.yaml", "--full").stdout
    assert f"block.scheduler of {two_loops[0]}, {two_loops[1]}, for each trial" in output
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    for row in program.rows():
        assert dict(row.settings) == {f"block.scheduler@{n}": row.configuration for n in two_loops}
    assert [queue_state(name) for name in two_loops] == before


def test_chosen_configurations_alone_are_run(program):
    found = settings_by_configuration(
        program,
        """\
factors:
  block.scheduler: [none, bfq]
  block.bfq.slice_idle: [8, 0]
  block.read_ahead_kb: {usual: 128, large: 1024}
configurations:
  before: {}
  all: {block.scheduler: bfq, block.bfq.slice_idle: 0, block.read_ahead_kb: large}
""",
    )
    assert {label: trials[0] for label, trials in found.items()} == {
        "before": {"block.scheduler": "none", "block.read_ahead_kb": "128"},
        "all": {
            "block.scheduler": "bfq",
            "block.bfq.slice_idle": "0",
            "block.read_ahead_kb": "1024",
        },
    }


@pytest.mark.parametrize(
    ("command", "on", "factor", "words"),
    [
        ("check", "LOOP", "block.bfq.slice_idle: [0, 8]", "add `block.scheduler: [bfq]`"),
        ("run", "LOOP", "block.bfq.slice_idle: [0, 8]", "add `block.scheduler: [bfq]`"),
        ("check", "no-such-device", "block.scheduler: [none]", "no-such-device"),
        ("run", "members of no-such-group", "block.scheduler: [none]", "no-such-group"),
    ],
)
def test_missing_level_fails_before_the_first_trial(program, loop, command, on, factor, words):
    name, _, levels = factor.partition(": ")
    place = on.replace("LOOP", loop)
    program.write(f"factors:\n  {name}: {{levels: {levels}, on: {place}}}\n" + REST)
    done = program("check", "study.yaml", "--full") if command == "check" else program.run_study()
    assert done.returncode in (2, 3)
    assert words in done.stderr
    assert "remedy: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (program.out / FILE_NAME).exists()
    assert program.residue() == []


def test_another_place_of_a_study_is_locked(program, loop):
    text = f"factors:\n  block.scheduler: {{levels: [none, bfq], on: {loop}}}\n" + REST
    program.write(text.replace("[3, 3]", "[900, 900]"))
    process = program.start_study()
    program.wait_for_trials(process, 1)
    second = program("set", "block.nr_requests=32", "--on", loop)
    process.terminate()
    process.communicate()
    assert second.returncode == 2
    assert str(process.pid) in second.stderr
