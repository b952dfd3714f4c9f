"""Switchback studies on a simulated node: pilots, blocks of windows, resumption."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from iostudy.analysis.switchback import block_plan
from iostudy.analysis.switchback.block_plan import plan_blocks
from iostudy.analysis.switchback.window_plan import FIRST_LOOK, LONGEST_WASHOUT_SECONDS
from iostudy.analysis.verdict import Verdict
from iostudy.cli.report_output import read_report
from iostudy.errors import WorkloadError
from iostudy.execution.session import prepare_session
from iostudy.execution.switchback.measure import measure_round
from iostudy.execution.time_limit import NO_LIMIT, TimeLimit
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import read_study
from iostudy.ledger.windows import WindowRecord
from iostudy.node.fake import Disturbance, FakeNode
from iostudy.node.fake_run import FakeResponse, FakeRun
from iostudy.report.render import terminal
from iostudy.study.parser import parse
from iostudy.study.sections import DecisionMode
from iostudy.workloads import catalog
from iostudy.workloads.native.io import Io

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, kyber, bfq]}
workloads:
  - io: {operation: read, order: random, record_size: 4KiB, size: 64MiB, duration: 1s}
decide: {margin: 5%, risk: 5%, mode: auto}
"""


@pytest.fixture(autouse=True)
def _steady(monkeypatch):
    definition = replace(catalog.get("io"), window_figures=lambda _: ("iops", "bandwidth"))
    monkeypatch.setattr(catalog, "get", lambda name: definition)
    monkeypatch.setattr(Io, "unsteady_reason", lambda self: "")


def conduct(folder, node, *, text=TEXT, resume=False, listeners=(), limit=NO_LIMIT):
    folder.mkdir(exist_ok=True)
    study = parse(text, where="study.yaml", name="study")
    assignment = prepare_session(study, folder, root=True, resume=resume)
    return assignment.execute(
        node, root=True, seed=None if resume else 1, listeners=listeners, limit=limit
    )


def recorded(folder):
    ledger = Ledger.open(folder, read_only=True)
    try:
        record = WindowRecord(ledger)
        return read_study(ledger), record.pilots(), record.windows(), record.runs(), ledger.rows()
    finally:
        ledger.close()


def test_windows_decide(tmp_path):
    node = FakeNode(effects={"bfq": -0.2}, noise=0.02, base=20_000)
    verdicts = {s.configuration: s.comparison.verdict for s in conduct(tmp_path, node)}
    assert verdicts == {"kyber": Verdict.EQUIVALENT, "bfq": Verdict.WORSE}
    study, (pilot,), windows, runs, _ = recorded(tmp_path)
    assert study.decide.max_blocks == plan_blocks({pilot.workload: pilot.plan}).max_blocks
    assert study.bias == pilot.plan.bias > 0
    assert pilot.plan.window_seconds >= 20 / 20_000
    assert set(pilot.responses) == {"none", "kyber", "bfq"}
    assert {row.configuration for row in windows if row.block == 1} == {"none", "kyber", "bfq"}
    assert [row.previous for row in windows[:3]] == [
        windows[0].configuration,
        *(row.configuration for row in windows[:2]),
    ]
    in_blocks = {row.block: row.round for row in windows}
    assert set(in_blocks.values()) == {
        plan_blocks({pilot.workload: pilot.plan}).rounds[pilot.workload]
    }
    assert len(runs) == 2
    assert node.log.count("run io") == 2


class CountedTimeLimit:
    """A time limit that is reached when it was examined so many times."""

    seconds = seconds_left = 7200.0

    def __init__(self, times):
        self.times = times

    @property
    def is_reached(self):
        self.times -= 1
        return self.times < 0


def test_no_block_of_windows_begins_after_the_limit(tmp_path):
    node = FakeNode(effects={"bfq": -0.2}, noise=0.02, base=20_000)
    conduct(tmp_path, node, limit=CountedTimeLimit(3))
    _, _, windows, runs, _ = recorded(tmp_path)
    assert {row.block for row in windows} == {1, 2, 3}
    assert len(runs) == 2, "the pilot and the run, which ended in order"
    report = read_report(tmp_path)
    assert "The time limit of 2 h 00 min ended the study" in report.answer[-1]
    verdicts = {s.configuration: s.comparison.verdict for s in conduct(tmp_path, node, resume=True)}
    assert verdicts == {"kyber": Verdict.EQUIVALENT, "bfq": Verdict.WORSE}


def test_pilots_are_completed_after_the_limit(tmp_path):
    conduct(tmp_path, FakeNode(base=20_000), limit=TimeLimit.start(0))
    _, pilots, windows, _, _ = recorded(tmp_path)
    assert (len(pilots), windows) == (1, ())


def test_decided_configurations_leave_the_blocks(tmp_path):
    conduct(tmp_path, FakeNode(effects={"bfq": -0.3}, noise=0.1, base=20_000))
    *_, windows, _, _ = recorded(tmp_path)
    last = max(row.block for row in windows)
    assert {row.configuration for row in windows if row.block == last} == {"none", "kyber"}


def test_windows_have_enough_operations_of_the_slowest_configuration(tmp_path):
    conduct(tmp_path, FakeNode(effects={"bfq": -0.9}, noise=0.02, base=1000))
    _, (pilot,), *_ = recorded(tmp_path)
    assert pilot.plan.window_seconds * 100 >= 20 * 0.9


def test_a_slow_response_gets_a_washout(tmp_path):
    """Windows right after the switch would show bfq 30 % slower."""
    slow = {"bfq": FakeResponse(-0.35, 0.5)}
    node = FakeNode(noise=0.02, base=20_000, responses=slow)
    verdicts = {s.configuration: s.comparison.verdict for s in conduct(tmp_path, node)}
    assert verdicts == {"kyber": Verdict.EQUIVALENT, "bfq": Verdict.EQUIVALENT}
    _, (pilot,), *_ = recorded(tmp_path)
    assert pilot.plan.washout_seconds["bfq"] > 3 > pilot.plan.washout_seconds["kyber"]


def test_a_level_that_does_not_settle_makes_it_whole_trials(tmp_path):
    slow = {"bfq": FakeResponse(-3.0, 20.0)}
    node = FakeNode(noise=0.01, base=20_000, responses=slow)
    conduct(tmp_path, node)
    study, (pilot,), windows, _, rows = recorded(tmp_path)
    assert not windows
    assert rows
    assert pilot.plan is None
    assert study.decide.mode is DecisionMode.TRIALS
    assert "io: bfq does not settle" in study.notes[-1]
    assert study.decide.max_blocks == 30


def test_a_pilot_without_a_plan_is_the_last_one(tmp_path):
    slow = {"bfq": FakeResponse(-3.0, 20.0)}
    node = FakeNode(noise=0.01, base=20_000, responses=slow, script={3: Disturbance(SystemExit())})
    text = TEXT.replace("duration: 1s}", "duration: 1s}\n  - io: {label: second, duration: 1s}")
    with pytest.raises(SystemExit):
        conduct(tmp_path, node, text=text)
    conduct(tmp_path, node, text=text, resume=True)
    _, (pilot,), windows, _, rows = recorded(tmp_path)
    assert pilot.workload == "io"
    assert not windows
    assert {row.workload for row in rows} == {"io", "second"}


@pytest.mark.parametrize(("label", "other"), [("none", "kyber"), ("kyber", "none")])
def test_an_undeclared_slow_response_makes_it_whole_trials(tmp_path, label, other):
    """Windows would show the configuration 25 % slower; the pilot's curves last for 0.75 s."""
    slow = {label: FakeResponse(-0.35, 3.0)}
    text = TEXT.replace("none, kyber, bfq", "none, kyber")
    conduct(tmp_path, FakeNode(noise=0.02, base=20_000, responses=slow), text=text)
    study, (pilot,), windows, *_ = recorded(tmp_path)
    assert pilot.plan is None and not windows
    assert f"io: {label} responds to a switch more slowly than declared" in study.notes[-1]
    assert other not in pilot.reason


def test_a_failed_run_keeps_its_blocks_and_is_resumed(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    node = FakeNode(noise=0.2, base=20_000)
    conduct(whole, replace(node))
    with pytest.raises(WorkloadError, match="scripted"):
        conduct(broken, replace(node, fails_after=36))
    *_, before, _, _ = recorded(broken)
    assert before
    conduct(broken, replace(node), resume=True)
    _, pilots, after, _, _ = recorded(broken)
    assert len(pilots) == 1
    assert after[: len(before)] == before
    orders = [[(r.block, r.configuration) for r in recorded(f)[2]] for f in (whole, broken)]
    same = 3 * FIRST_LOOK  # later blocks leave out what the noise of each has decided
    assert orders[0][:same] == orders[1][:same]
    session = prepare_session(
        parse(TEXT, where="study.yaml", name="study"), broken, root=True, resume=True
    )
    assert session.final_comparisons() is not None


def test_windows_are_continued_past_their_plan(tmp_path, monkeypatch):
    for name, value in (("_ROUNDS_FACTOR", 0), ("_FEWEST_ROUNDS", 10), ("_MOST_BLOCKS", 10)):
        monkeypatch.setattr(block_plan, name, value)
    node = FakeNode(effects={"kyber": 0.0, "bfq": -0.5}, noise=0.1, base=20_000, seed=3)
    conduct(tmp_path, node)
    study, _, before, *_ = recorded(tmp_path)
    assert study.decide.max_blocks == before[-1].block == 10
    parsed = parse(TEXT, where="study.yaml", name="study")
    session = prepare_session(parsed, tmp_path, root=True, resume=True, further_blocks=3)
    session.execute(replace(node, seed=4), root=True, seed=None, listeners=())
    after = recorded(tmp_path)[2]
    last = before[-1].block
    assert after[: len(before)] == before
    added = after[len(before) :]
    assert {row.block for row in added} == {last + 1, last + 2, last + 3}
    assert {row.configuration for row in added} == {"none", "kyber"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("block.scheduler: [none, kyber, bfq]", "block.read_ahead_kb: [0, 128]"), "read-ahead"),
        (("block.scheduler: [none, kyber, bfq]", "workload.size: [1MiB, 2MiB]"), "keeps its size"),
        (("decide:", "validity: {steal: 5%}\ndecide:"), "a limit of steal"),
    ],
)
def test_conditions_for_whole_trials(tmp_path, change, reason):
    from iostudy.study.switchback import describe_mode

    study = parse(TEXT.replace(*change), where="study.yaml", name="study")
    assert reason in describe_mode(study)


def test_carry_over_is_flagged(tmp_path, monkeypatch):
    """Each window after bfq is 10 % slower."""
    measure = FakeRun._measure
    previous = {"label": "none"}
    switch = FakeRun.switch

    def switched(self, label):
        previous["label"] = self.label
        switch(self, label)

    def slower(self, window):
        count = measure(self, window)
        slow = 0.9 if previous["label"] == "bfq" else 1.0
        return replace(count, figures={n: v * slow for n, v in count.figures.items()})

    monkeypatch.setattr(FakeRun, "switch", switched)
    monkeypatch.setattr(FakeRun, "_measure", slower)
    conduct(tmp_path, FakeNode(noise=0.03, base=20_000))
    (own,) = read_report(tmp_path).switchback
    flagged = [(each.source, each.group) for each in own.carry_over if each.flagged]
    assert ("previous configuration", "bfq") in flagged
    text = terminal.render(read_report(tmp_path))
    assert text


def test_a_noisy_pilot_gives_long_washouts_and_no_whole_trials(tmp_path, monkeypatch):
    """Every twentieth window has no operation, as on a host that stops for a moment."""
    measure = FakeRun._measure
    windows = itertools.count()

    def paused(self, window):
        count = measure(self, window)
        return replace(count, figures={}) if next(windows) % 20 == 19 else count

    monkeypatch.setattr(FakeRun, "_measure", paused)
    conduct(tmp_path, FakeNode(noise=0.3, base=20_000), text=TEXT.replace("kyber, bfq", "kyber"))
    _, (pilot,), windows, *_ = recorded(tmp_path)
    assert windows
    assert max(pilot.plan.washout_seconds.values()) < LONGEST_WASHOUT_SECONDS


def change_rounds(monkeypatch, every, figures):
    """Give the window of bfq other figures in every eighth round, or another one."""
    rounds = itertools.count(1)

    def changed(run, order, plan):
        found = measure_round(run, order, plan)
        if next(rounds) % every:
            return found
        pairs = zip(order, found.counts, strict=True)
        counts = [replace(c, figures=figures) if own == "bfq" else c for own, c in pairs]
        return replace(found, counts=counts)

    monkeypatch.setattr("iostudy.execution.switchback.blocks.measure_round", changed)


@pytest.mark.parametrize(
    "figures", [{"iops": 0.0, "bandwidth": 0.0}, {"bandwidth": 1.0}], ids=["nothing", "no figure"]
)
def test_a_block_in_which_a_configuration_stalls_is_a_failed_run(tmp_path, monkeypatch, figures):
    """A figure of 0, or a percentile of too few operations: no block is measured again."""
    change_rounds(monkeypatch, 8, figures)
    results = conduct(tmp_path, FakeNode(noise=0.02, base=20_000))
    _, (pilot,), windows, runs, *_ = recorded(tmp_path)
    assert set(plan_blocks({pilot.workload: pilot.plan}).rounds.values()) == {1}
    stalled = {row.block for row in windows if not row.figures.get("iops")}
    assert stalled
    assert not any("block" in note for run in runs for note in run.notes)
    (bfq,) = [own.comparison for own in results if own.configuration == "bfq"]
    assert bfq.slow is not None
    assert bfq.slow.slow == len({block for block in stalled if block <= bfq.blocks})


def test_a_configuration_that_completes_nothing_any_more_is_worse(tmp_path, monkeypatch):
    change_rounds(monkeypatch, 1, {"iops": 0.0, "bandwidth": 0.0})
    results = conduct(tmp_path, FakeNode(noise=0.02, base=20_000))
    (bfq,) = [own.comparison for own in results if own.configuration == "bfq"]
    assert bfq.verdict is Verdict.WORSE


def test_the_note_names_the_missing_operations(tmp_path):
    conduct(tmp_path, FakeNode(noise=0.01, base=15))
    study, (pilot,), windows, *_ = recorded(tmp_path)
    assert pilot.plan is None and not windows
    assert "operations" in study.notes[-1]


def test_a_block_with_a_late_device_is_measured_again(tmp_path, monkeypatch):
    windows = itertools.count()
    monkeypatch.setattr(FakeRun, "end_check", lambda run: () if next(windows) else ("late",))
    conduct(tmp_path / "out", FakeNode(noise=0.02, base=20_000))
    notes = [note for run in recorded(tmp_path / "out")[3] for note in run.notes]
    (note,) = [each for each in notes if "measured again" in each]
    assert note.startswith("block 1 was measured again: ") and note.endswith(": late")


def test_a_device_that_is_always_late_stops_the_study(tmp_path, monkeypatch):
    monkeypatch.setattr(FakeRun, "end_check", lambda run: ("loop0: the drive was late",))
    with pytest.raises(WorkloadError, match="loop0: the drive was late"):
        conduct(tmp_path / "out", FakeNode(noise=0.02, base=20_000))


def test_slow_switches_make_it_whole_trials(tmp_path, monkeypatch):
    """A switch that waits for a long queue leaves no bins after it."""
    monkeypatch.setattr("iostudy.node.fake_run._SWITCH_SECONDS", 20.0)
    conduct(tmp_path, FakeNode(noise=0.01, base=20_000))
    study, (pilot,), windows, *_ = recorded(tmp_path)
    assert pilot.plan is None and not windows
    assert "10 blocks of windows with their washouts" in study.notes[-1]
