"""Switchback studies on a simulated node: plans, blocks of windows, resumption."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from iostudy.analysis.switchback import window_plan
from iostudy.analysis.switchback.window_plan import FEWEST_BLOCKS, HALVES
from iostudy.analysis.verdict import Verdict
from iostudy.cli.report_output import read_report
from iostudy.errors import RecordError, WorkloadError
from iostudy.execution.listeners import Listener
from iostudy.execution.schedule import NO_LIMIT
from iostudy.execution.session import prepare_session
from iostudy.execution.switchback import runner
from iostudy.execution.switchback.blocks import measure_pair
from iostudy.ledger import studies
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import read_study
from iostudy.ledger.windows import WindowRecord
from iostudy.study.parser import parse
from iostudy.study.sections import DecisionMode
from iostudy.workloads import catalog
from iostudy.workloads.native.io import Io
from tests.fake_node import FakeNode, FakeResponse, FakeRun

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, mq-deadline, noop]}
workloads:
  - io: {operation: read, order: random, record_size: 4KiB, size: 64MiB, duration: 1s}
decide: {margin: 5%, risk: 5%, mode: auto}
"""


FACTOR = "block.scheduler: [none, mq-deadline, noop]"
LABELS = {"none", "mq-deadline", "noop"}


@pytest.fixture(autouse=True)
def _steady(monkeypatch):
    definition = replace(catalog.get("io"), window_figures=lambda _: ("iops", "bandwidth"))
    monkeypatch.setattr(catalog, "get", lambda name: definition)
    monkeypatch.setattr(Io, "unsteady_reason", lambda self: "")


def conduct(folder, node, *, text=TEXT, resume=False, listeners=(), limit=NO_LIMIT):
    folder.mkdir(exist_ok=True)
    study = parse(text, where="study.yaml", name="study")
    assignment = prepare_session(study, folder, root=True, resume=resume)
    return assignment.execute(node, seed=None if resume else 1, listeners=listeners, limit=limit)


def recorded(folder):
    ledger = Ledger.open(folder, read_only=True)
    try:
        record = WindowRecord(ledger)
        return read_study(ledger), record.plans(), record.windows(), record.runs(), ledger.rows()
    finally:
        ledger.close()


def test_windows_decide(tmp_path):
    node = FakeNode(effects={"noop": -0.2}, noise=0.02, base=20_000)
    verdicts = {s.configuration: s.comparison.verdict for s in conduct(tmp_path, node)}
    assert verdicts == {"mq-deadline": Verdict.EQUIVALENT, "noop": Verdict.WORSE}
    study, (row,), windows, runs, _ = recorded(tmp_path)
    assert (study.decide.min_blocks, study.decide.max_blocks) == (FEWEST_BLOCKS, 96)
    assert study.bias > 0
    assert {row.configuration for row in windows if row.block == 1} == LABELS
    assert {own.round for own in windows} == set(range(1, 2 * row.plan.pairs + 1))
    assert len(runs) == 1, "the rehearsal and the windows have one run"
    assert node.log.count("run io") == 1


def test_a_pair_of_rounds_has_mirrored_orders(tmp_path):
    conduct(tmp_path, FakeNode(effects={"noop": -0.2}, noise=0.02, base=20_000))
    windows = recorded(tmp_path)[2]
    first, second = (
        [row.configuration for row in windows if (row.block, row.round) == (1, number)]
        for number in (1, 2)
    )
    assert len(first) == len(LABELS) * HALVES
    assert second == first[::-1]
    previous = [row.previous for row in windows]
    assert previous[1:] == [row.configuration for row in windows[:-1]]


def test_the_lengths_of_windows_vary(tmp_path):
    conduct(tmp_path, FakeNode(noise=0.02, base=20_000))
    _, (row,), windows, *_ = recorded(tmp_path)
    by_pair = {(own.block, (own.round + 1) // 2): own.seconds for own in windows}
    lengths = [HALVES * own / row.plan.window_seconds for own in by_pair.values()]
    assert all(0.79 < own < 1.21 for own in lengths)
    assert max(lengths) - min(lengths) > 0.2


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
    node = FakeNode(effects={"noop": -0.2}, noise=0.02, base=20_000)
    conduct(tmp_path, node, limit=CountedTimeLimit(3))
    _, _, windows, runs, _ = recorded(tmp_path)
    assert {row.block for row in windows} == {1, 2, 3}
    assert len(runs) == 1, "it ended in order"
    report = read_report(tmp_path)
    assert "The time limit of 2 h 00 min ended the study" in report.answer[-1]
    verdicts = {s.configuration: s.comparison.verdict for s in conduct(tmp_path, node, resume=True)}
    assert verdicts == {"mq-deadline": Verdict.EQUIVALENT, "noop": Verdict.WORSE}


def test_decided_configurations_leave_the_blocks(tmp_path):
    conduct(tmp_path, FakeNode(effects={"noop": -0.3}, noise=0.1, base=20_000))
    *_, windows, _, _ = recorded(tmp_path)
    last = max(row.block for row in windows)
    assert {row.configuration for row in windows if row.block == last} == {"none", "mq-deadline"}


def test_windows_have_enough_operations_of_the_slowest_configuration(tmp_path):
    conduct(tmp_path, FakeNode(effects={"noop": -0.9}, noise=0.02, base=1000))
    _, (row,), *_ = recorded(tmp_path)
    assert row.plan.window_seconds / HALVES * 100 >= 20


def test_a_declared_response_is_no_difference(tmp_path):
    """Without a washout noop would seem 5 % slower."""
    node = FakeNode(noise=0.02, base=20_000, responses={"noop": FakeResponse(-0.5, 0.005)})
    results = conduct(tmp_path, node)
    assert {own.comparison.verdict for own in results} == {Verdict.EQUIVALENT}
    assert recorded(tmp_path)[0].decide.mode is DecisionMode.AUTO


def test_an_unsettled_level_makes_it_whole_trials(tmp_path):
    slow = {"noop": FakeResponse(-0.4, 0.03)}
    node = FakeNode(noise=0.02, base=20_000, responses=slow)
    results = conduct(tmp_path, node)
    study, plans, windows, _, rows = recorded(tmp_path)
    assert windows and rows
    assert [own.plan is None for own in plans] == [False, True]
    assert study.decide.mode is DecisionMode.TRIALS
    assert "io: noop does not settle after a switch" in study.notes[-1]
    assert study.decide.max_blocks == 30 and study.bias == 0
    assert {own.comparison.verdict for own in results} == {Verdict.EQUIVALENT}
    report = read_report(tmp_path)
    assert not report.switchback
    assert all(own.blocks <= 30 for own in report.workloads[0].results)


def test_windows_that_cannot_decide_end_all_windows(tmp_path):
    text = TEXT.replace("duration: 1s}", "duration: 1s}\n  - io: {label: second, duration: 1s}")
    node = FakeNode(noise=0.01, base=15)
    conduct(tmp_path, node, text=text)
    study, (row,), windows, _, rows = recorded(tmp_path)
    assert row.plan is None and not windows
    assert "operations a second, and half a window needs 20" in study.notes[-1]
    assert {own.workload for own in rows} == {"io", "second"}


def test_a_failed_run_keeps_its_blocks_and_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "count_blocks", lambda _: 12)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    node = FakeNode(noise=0.2, base=20_000)
    conduct(whole, replace(node))
    with pytest.raises(WorkloadError, match="scripted"):
        conduct(broken, replace(node, fails_after=80))
    *_, before, (run,), _ = recorded(broken)
    assert before
    assert run.notes == ("ended by WorkloadError",)
    conduct(broken, replace(node), resume=True)
    _, plans, after, _, _ = recorded(broken)
    assert len(plans) == 1
    assert after[: len(before)] == before
    orders = [[(r.block, r.configuration) for r in recorded(f)[2]] for f in (whole, broken)]
    same = (
        3 * 4 * HALVES * FEWEST_BLOCKS
    )  # later blocks leave out what the noise of each has decided
    assert orders[0][:same] == orders[1][:same]
    session = prepare_session(
        parse(TEXT, where="study.yaml", name="study"), broken, root=True, resume=True
    )
    assert session.final_comparisons() is not None


class InterruptingListener(Listener):
    def windows_measured(self, request, progress):
        if progress.done == 3:
            raise KeyboardInterrupt


def test_an_interrupted_run_is_recorded(tmp_path):
    """Its blocks decide, so that the report needs its settings and telemetry."""
    node = FakeNode(effects={"noop": -0.2}, noise=0.02, base=20_000)
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, node, listeners=[InterruptingListener()])
    _, _, windows, (run,), _ = recorded(tmp_path)
    assert {row.block for row in windows} == {1, 2, 3}
    assert run.notes == ("ended by KeyboardInterrupt",)
    assert (tmp_path / run.telemetry.name).is_file()
    conduct(tmp_path, replace(node), resume=True)
    assert len(recorded(tmp_path)[3]) == 2


def test_a_run_that_cannot_be_recorded_hides_no_signal(tmp_path, monkeypatch):
    def fail(*_):
        raise RecordError("to write", found="a full disk", where="samples", remedy="free space")

    monkeypatch.setattr(runner, "write_samples", fail)
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, FakeNode(base=20_000), listeners=[InterruptingListener()])
    _, _, windows, runs, _ = recorded(tmp_path)
    assert {row.block for row in windows} == {1, 2, 3}
    assert not runs


def test_windows_are_continued_past_their_plan(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "count_blocks", lambda _: 10)
    node = FakeNode(effects={"mq-deadline": 0.0, "noop": -0.5}, noise=0.4, base=20_000, seed=3)
    conduct(tmp_path, node)
    study, _, before, *_ = recorded(tmp_path)
    assert study.decide.max_blocks == before[-1].block == 10
    parsed = parse(TEXT, where="study.yaml", name="study")
    session = prepare_session(parsed, tmp_path, root=True, resume=True, further_blocks=3)
    session.execute(replace(node, seed=4), seed=None, listeners=())
    after = recorded(tmp_path)[2]
    last = before[-1].block
    assert after[: len(before)] == before
    added = after[len(before) :]
    assert {row.block for row in added} == {last + 1, last + 2, last + 3}
    assert {row.configuration for row in added} == {"none", "mq-deadline"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            (FACTOR, "block.read_ahead_kb: [0, 128]"),
            "read-ahead",
        ),
        (("noop", "bfq"), "learn"),
        (
            (FACTOR, "workload.size: [1MiB, 2MiB]"),
            "keeps its size",
        ),
        (("decide:", "validity: {steal: 5%}\ndecide:"), "a limit of steal"),
    ],
)
def test_conditions_for_whole_trials(tmp_path, change, reason):
    from iostudy.study.mode import describe_mode

    study = parse(TEXT.replace(*change), where="study.yaml", name="study")
    assert reason in describe_mode(study)


def change_pairs(monkeypatch, every, figures):
    """Give the windows of noop other figures in every eighth pair, or another one."""
    pairs = itertools.count(1)

    def changed(run, order, before, plan, length):
        found = measure_pair(run, order, before, plan, length)
        if next(pairs) % every:
            return found
        return tuple(
            replace(own, count=replace(own.count, figures=figures))
            if own.configuration == "noop"
            else own
            for own in found
        )

    monkeypatch.setattr("iostudy.execution.switchback.blocks.measure_pair", changed)


@pytest.mark.parametrize(
    "figures", [{"iops": 0.0, "bandwidth": 0.0}, {"bandwidth": 1.0}], ids=["nothing", "no figure"]
)
def test_a_block_in_which_a_configuration_stalls_is_a_failed_run(tmp_path, monkeypatch, figures):
    """A figure of 0, or a percentile of too few operations: no block is measured again."""
    monkeypatch.setattr(window_plan, "_FEWEST_PAIRS", 1)
    monkeypatch.setattr(window_plan, "_PLANNED_BLOCKS", (128, 128))
    change_pairs(monkeypatch, 8, figures)
    results = conduct(tmp_path, FakeNode(noise=0.02, base=20_000))
    _, (row,), windows, runs, *_ = recorded(tmp_path)
    assert row.plan.pairs == 1
    stalled = {row.block for row in windows if not row.figures.get("iops")}
    assert stalled
    assert not any("block" in note for run in runs for note in run.notes)
    (noop,) = [own.comparison for own in results if own.configuration == "noop"]
    assert noop.slow is not None
    assert noop.slow.slow == len({block for block in stalled if block <= noop.blocks})


def test_a_configuration_that_completes_nothing_any_more_is_worse(tmp_path, monkeypatch):
    change_pairs(monkeypatch, 1, {"iops": 0.0, "bandwidth": 0.0})
    results = conduct(tmp_path, FakeNode(noise=0.02, base=20_000))
    (noop,) = [own.comparison for own in results if own.configuration == "noop"]
    assert noop.verdict is Verdict.WORSE


def test_a_block_with_a_late_device_is_measured_again(tmp_path, monkeypatch):
    windows = itertools.count()
    monkeypatch.setattr(FakeRun, "end_check", lambda run: () if next(windows) else ("late",))
    conduct(tmp_path / "out", FakeNode(noise=0.02, base=20_000))
    notes = [note for run in recorded(tmp_path / "out")[3] for note in run.notes]
    (note,) = [each for each in notes if "measured again" in each]
    assert note == "block 1 was measured again: late"


def test_a_device_that_is_always_late_stops_the_study(tmp_path, monkeypatch):
    monkeypatch.setattr(FakeRun, "end_check", lambda run: ("loop0: the drive was late",))
    with pytest.raises(WorkloadError, match="loop0: the drive was late"):
        conduct(tmp_path / "out", FakeNode(noise=0.02, base=20_000))
