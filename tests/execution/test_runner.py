"""Order of the steps of a study, and trials that do not count."""

from __future__ import annotations

import math
import random
import shutil
from dataclasses import replace

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.errors import (
    LedgerError,
    RecordError,
    RestoreError,
    SettingError,
    UsageError,
    WorkloadError,
)
from iostudy.execution.listeners import Listener
from iostudy.execution.runner import _data_seed
from iostudy.execution.schedule import NO_LIMIT
from iostudy.execution.session import prepare_session
from iostudy.ledger.rows import TrialStatus
from iostudy.ledger.store import Ledger
from iostudy.study.plan import Block, make_plan
from tests.fake_node import Disturbance, FakeNode
from tests.study.files import parse_once

TEXT = """
question: Which?
target: /tmp
factors: {block.scheduler: [none, kyber, bfq]}
workloads: [{io: {label: file-writes, operation: write}}, {io: {label: file-reads}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 12]}
"""
SHORT = TEXT.replace("[5, 12]", "[4, 4]")
"""For tests of the steps, to which it is nothing when a comparison is decided."""
LIMITED = TEXT + "validity: {foreign_io: 10%, steal: 5%}\n"
SHORT_LIMITED = LIMITED.replace(TEXT, SHORT)


def study(text: str = TEXT):
    return parse_once(text)


def conduct(folder, node, *, text=TEXT, resume=False, listeners=(), seed=1, limit=NO_LIMIT):
    folder.mkdir(exist_ok=True)
    assignment = prepare_session(study(text), folder, root=True, resume=resume)
    return assignment.execute(node, seed=seed, listeners=listeners, limit=limit)


def rows(folder):
    ledger = Ledger.open(folder)
    try:
        return ledger.rows()
    finally:
        ledger.close()


def failed(cls=WorkloadError):
    return cls("to write", found="no space left", where="/tmp", remedy="make room")


def test_a_clear_difference_and_a_clear_equivalence_are_distinguished(tmp_path):
    node = FakeNode(effects={"bfq": -0.2}, noise=0.005)
    verdicts = {
        (s.workload, s.configuration): s.comparison.verdict for s in conduct(tmp_path, node)
    }
    assert set(verdicts.values()) == {Verdict.WORSE, Verdict.EQUIVALENT}
    assert verdicts["file-writes", "bfq"] is Verdict.WORSE


def test_a_declared_limit_that_could_not_be_judged_is_noted_with_each_trial(tmp_path):
    conduct(tmp_path / "declared", FakeNode(), text=SHORT + "validity: {foreign_cpu: 25%}\n")
    assert all(
        "foreign_cpu was not checked" in row.notes[-1] for row in rows(tmp_path / "declared")
    )
    conduct(tmp_path / "without", FakeNode(), text=SHORT)
    assert all(row.notes == () for row in rows(tmp_path / "without"))


def test_each_comparison_stops_as_soon_as_it_is_decided(tmp_path):
    node = FakeNode(effects={"bfq": -0.2}, noise=0.03)
    final = {(s.workload, s.configuration): s.comparison for s in conduct(tmp_path, node)}
    decided = final["file-writes", "bfq"].blocks
    assert decided < final["file-writes", "kyber"].blocks
    ran = [
        r.block for r in rows(tmp_path) if (r.workload, r.configuration) == ("file-writes", "bfq")
    ]
    assert max(ran) == decided


def test_a_block_is_prepared_run_in_the_planned_order_and_cleaned(tmp_path):
    node = FakeNode()
    conduct(tmp_path, node, seed=7)
    first = make_plan(study(), 7).blocks[0]
    trials = [f"trial {first.workload} {label}" for label in first.order]
    begin, end = f"prepare {first.workload}", f"clean {first.workload}"
    assert node.log[:6] == ["preflight", begin, *trials, end]


@pytest.mark.parametrize(
    ("disturbance", "reason"),
    [
        (Disturbance(foreign_io=0.5), "foreign I/O on fake0: 50 %"),
        (Disturbance(steal=0.5), "hypervisor took 50 %"),
        (Disturbance(error=failed(SettingError)), "no space left"),
    ],
)
def test_an_invalid_trial_repeats_its_block_whole_and_its_rows_are_kept(
    tmp_path, pauses, disturbance, reason
):
    conduct(tmp_path, FakeNode(script={1: disturbance}), text=SHORT_LIMITED)
    kept = rows(tmp_path)
    assert [r.status for r in kept[:2]] == [TrialStatus.FINISHED, TrialStatus.INVALID]
    assert reason in kept[1].reason
    assert not any(r.counts for r in kept[:2])
    assert [(r.attempt, r.block) for r in kept[2:5]] == [(2, 1)] * 3
    assert all(r.counts for r in kept[2:5])


def test_a_failed_workload_is_a_result_of_its_configuration(tmp_path, pauses):
    conduct(tmp_path, FakeNode(script={1: Disturbance(error=failed())}), text=SHORT_LIMITED)
    first, second, third = rows(tmp_path)[:3]
    assert (second.status, second.figures) == (TrialStatus.FAILED, None)
    assert "no space left" in second.reason
    assert all(r.counts and (r.block, r.attempt) == (1, 1) for r in (first, second, third))


def test_a_configuration_that_always_fails_is_worse(tmp_path):
    class FailingNode(FakeNode):
        def run(self, request, configuration):
            if configuration.label == "bfq":
                self.script = {self._trials: Disturbance(error=failed())}
            return super().run(request, configuration)

    text = TEXT.replace("[5, 12]", "[5, 20]")
    final = conduct(tmp_path, FailingNode(noise=0.005), text=text)
    found = {own.configuration: own.comparison for own in final if own.workload == "file-writes"}
    assert found["bfq"].verdict is Verdict.WORSE
    assert found["bfq"].slow.slow == found["bfq"].slow.runs == found["bfq"].blocks
    assert found["kyber"].verdict is Verdict.EQUIVALENT


def test_nothing_below_the_limits_is_ever_removed(tmp_path):
    script = {n: Disturbance(foreign_io=0.09, steal=0.04) for n in range(200)}
    conduct(tmp_path, FakeNode(script=script), text=SHORT_LIMITED)
    assert all(r.status is TrialStatus.FINISHED and r.counts for r in rows(tmp_path))


def test_a_failed_restore_ends_the_study_at_once(tmp_path):
    node = FakeNode(script={2: Disturbance(error=failed(RestoreError))})
    with pytest.raises(RestoreError):
        conduct(tmp_path, node)
    assert rows(tmp_path)[-1].status is TrialStatus.INVALID
    assert node.log[-1].startswith("clean")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The comparisons of a study that nothing stopped."""
    return conduct(tmp_path_factory.mktemp("plain"), NoisyNode())


@pytest.fixture(scope="module")
def whole_study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    conduct(folder, FakeNode())
    return folder


@pytest.fixture
def finished(whole_study, tmp_path):
    """The folder of a study that has ended."""
    return shutil.copytree(whole_study, tmp_path / "finished")


@pytest.mark.parametrize(("stop_after", "position"), [(0, 1), (16, 2), (23, 3), (55, 2)])
def test_a_resumed_study_decides_the_same(tmp_path, plain, stop_after, position):
    """Also when it was stopped in the middle of a block, which is then run again whole."""
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path / "stopped", NoisyNode(stop_after))
    last = rows(tmp_path / "stopped")[-1]
    assert (last.status, last.position) == (TrialStatus.INTERRUPTED, position)
    resumed = conduct(tmp_path / "stopped", NoisyNode(), resume=True, seed=None)
    assert len({standing.comparison.blocks for standing in plain}) > 1
    assert resumed == plain


def test_a_study_that_ended_before_its_block_was_marked_whole_decides_the_same(
    tmp_path, plain, monkeypatch
):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Ledger, "complete", killed)
        conduct(tmp_path / "stopped", NoisyNode())
    assert conduct(tmp_path / "stopped", NoisyNode(), resume=True, seed=None) == plain


class NoisyNode(FakeNode):
    """Noise by workload, configuration and block: a repeated block has the same figures."""

    def __init__(self, stop_after=None):
        stop = {} if stop_after is None else {stop_after: Disturbance(error=KeyboardInterrupt())}
        super().__init__(script=stop)
        self.blocks = {
            _data_seed(1, Block(index, workload, ()), attempt): index
            for index in range(1, 13)
            for workload in ("file-writes", "file-reads")
            for attempt in (1, 2)
        }

    def block(self, request, seed, round_seed):
        self.index = self.blocks[seed]
        return super().block(request, seed, round_seed)

    def run(self, request, configuration):
        result = super().run(request, configuration)
        draw = random.Random(f"{request.label} {configuration.label} {self.index}")
        slow = {"kyber": 1.0, "bfq": 0.93, "none": 1.0}[configuration.label]
        figures = {**result.figures, "bandwidth": 1000 * slow * math.exp(draw.gauss(0, 0.03))}
        return replace(result, figures=figures)


def test_a_finished_study_resumed_runs_nothing_more(finished):
    node = FakeNode()
    conduct(finished, node, resume=True, seed=None)
    assert node.log == ["preflight"]


def test_a_folder_that_holds_a_study_is_not_written_to(finished):
    before = rows(finished)
    with pytest.raises(LedgerError, match="already contains one"):
        conduct(finished, FakeNode())
    with pytest.raises(LedgerError, match="another study"):
        conduct(finished, FakeNode(), text=TEXT.replace("3%", "2%"), resume=True)
    assert rows(finished) == before


def test_listeners_hear_of_every_step(tmp_path):
    class RecordingListener(Listener):
        def __init__(self):
            self.steps = []

        def checking_began(self, study):
            self.steps.append(f"checking {len(study.configurations())}")

        def study_began(self, study, seed, recorded, current):
            self.steps.append("began")

        def trial_began(self, row, trials):
            self.steps.append(f"{row.attempt}: {row.position} of {trials}")

        def trial_ended(self, row):
            self.steps.append("trial")

        def block_repeated(self, block, attempt, reason):
            self.steps.append("repeated")

        def block_ended(self, progress):
            self.steps.append("block")
            self.left = progress.seconds_left

        def study_ended(self, final):
            self.steps.append("ended")

    listener = RecordingListener()
    node = FakeNode(noise=0.001, script={0: Disturbance(error=failed(SettingError))})
    conduct(tmp_path, node, text=SHORT, listeners=[listener])
    first, *again = (["1: 1 of 3"], ["2: 1 of 3"], ["2: 2 of 3"], ["2: 3 of 3"])
    trials = [step for begun in again for step in (*begun, "trial")]
    assert listener.steps[:12] == [
        "checking 3",
        "began",
        *first,
        "trial",
        "repeated",
        *trials,
        "block",
    ]
    assert listener.steps[-1] == "ended"
    assert listener.left == 0


def test_levels_that_the_host_offers_are_recorded_and_kept(tmp_path):
    text = SHORT.replace("[none, kyber, bfq]", "offered")
    conduct(tmp_path, FakeNode(levels=("none", "bfq")), text=text)
    assert {r.configuration for r in rows(tmp_path)} == {"none", "bfq"}
    resumed = FakeNode(levels=("none", "bfq", "kyber"))
    conduct(tmp_path, resumed, text=text, resume=True, seed=None)
    assert {r.configuration for r in rows(tmp_path)} == {"none", "bfq"}


@pytest.mark.parametrize(
    ("now", "what"),
    [
        ({"target": {"identity": ["another disk"]}}, "target identity"),
        ({"target": {"on": ["another disk"]}}, "target on"),
        ({"hadoop": {"hadoop": {"version": "3.3.6"}}}, "hadoop hadoop version"),
        ({"hadoop": {"java": {"version": "21"}}}, "hadoop java version"),
        ({"hadoop": {"namenodes": ["other:8020"]}}, "hadoop namenodes"),
    ],
)
def test_a_study_is_not_resumed_under_other_circumstances(finished, now, what):
    class OtherHostNode(FakeNode):
        def circumstances(self):
            return now

    before = rows(finished)
    with pytest.raises(UsageError, match=f"{what} was None"):
        conduct(finished, OtherHostNode(), resume=True, seed=None)
    assert rows(finished) == before


def test_a_ledger_that_cannot_be_written_ends_the_study_with_an_error(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("iostudy.ledger.samples.write_whole", full)
    with pytest.raises(RecordError, match="No space left") as caught:
        conduct(tmp_path, FakeNode())
    assert caught.value.exit_code == 3
    (row,) = rows(tmp_path)
    assert row.status is TrialStatus.INTERRUPTED


SPLIT_PLOT = """
question: Which?
target: {loopback: {size: 1GiB}}
factors:
  block.scheduler: [none, bfq]
  filesystem.type: [ext4, xfs]
workloads: [{io: {label: file-writes, operation: write}}]
decide: {margin: 3%, risk: 5%, blocks: [4, 4]}
"""


def formats(node):
    return [entry for entry in node.log if entry.startswith(("format", "prepare"))]


def test_each_whole_plot_of_each_block_has_a_file_system_of_its_own(tmp_path):
    node = FakeNode(noise=0.3)
    conduct(tmp_path, node, text=SPLIT_PLOT, seed=4)
    assert len(formats(node)) == 4 * 3
    for block in range(4):
        begun, *made = formats(node)[3 * block : 3 * block + 3]
        assert begun == "prepare file-writes"
        assert sorted(made) == ["format filesystem.type=ext4", "format filesystem.type=xfs"]
    # Both orders occur, also the one in which two blocks meet on the same type.
    assert len({tuple(formats(node)[n : n + 3]) for n in range(0, 12, 3)}) == 2


def test_a_block_that_is_repeated_makes_all_its_file_systems_again(tmp_path):
    node = FakeNode(noise=0.3, script={2: Disturbance(error=failed(SettingError))})
    conduct(tmp_path, node, text=SPLIT_PLOT, seed=2)
    first, again = formats(node)[:3], formats(node)[3:6]
    assert len(first) == len(again) == 3
    assert [r.attempt for r in rows(tmp_path)[:7]] == [1, 1, 1, 2, 2, 2, 2]


def test_a_resumed_block_makes_all_its_file_systems_again(tmp_path):
    stopped = FakeNode(noise=0.3, script={6: Disturbance(error=KeyboardInterrupt())})
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, stopped, text=SPLIT_PLOT, seed=2)
    node = FakeNode(noise=0.3)
    conduct(tmp_path, node, text=SPLIT_PLOT, resume=True, seed=None)
    assert len(formats(node)) == 3 * 3
    whole = FakeNode(noise=0.3)
    conduct(tmp_path / "whole", whole, text=SPLIT_PLOT, seed=2)
    assert formats(whole)[3:] == formats(node)


def test_decided_configurations_and_their_file_systems_are_omitted(tmp_path):
    effects = {f"scheduler={s}, type=xfs": -0.5 for s in ("none", "bfq")}
    effects["scheduler=bfq, type=ext4"] = -0.03  # neither decided nor futile after nine blocks
    node = FakeNode(effects=effects, noise=0.02)
    text = SPLIT_PLOT.replace("[4, 4]", "[9, 10]").replace("margin: 3%", "margin: 0.1%")
    conduct(tmp_path, node, text=text, seed=2)
    last = node.log[len(node.log) - 1 - node.log[::-1].index("prepare file-writes") :]
    assert [entry for entry in last if "format" in entry] == ["format filesystem.type=ext4"]


def test_a_whole_study_is_known_as_such_and_one_that_was_stopped_is_not(tmp_path):
    """Also where its comparisons were decided before their last block."""
    text = TEXT.replace("[none, kyber, bfq]", "offered")
    whole, stopped = NoisyNode(), NoisyNode(40)
    whole.levels = stopped.levels = ("none", "kyber", "bfq")
    done = conduct(tmp_path / "whole", whole, text=text)
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path / "stopped", stopped, text=text)
    final = {
        name: prepare_session(
            study(text), tmp_path / name, root=True, resume=True
        ).final_comparisons()
        for name in ("whole", "stopped")
    }
    assert final == {"whole": done, "stopped": None}
    assert (
        prepare_session(study(text), tmp_path / "new", root=True, resume=False).final_comparisons()
        is None
    )


def test_a_study_of_one_configuration_is_whole_with_its_last_block(tmp_path):
    text = TEXT.replace("[none, kyber, bfq]", "[none]")
    with pytest.raises(KeyboardInterrupt):
        conduct(tmp_path, NoisyNode(23), text=text)
    assert (
        prepare_session(study(text), tmp_path, root=True, resume=True).final_comparisons() is None
    )
    conduct(tmp_path, NoisyNode(), text=text, resume=True, seed=None)
    assert prepare_session(study(text), tmp_path, root=True, resume=True).final_comparisons() == ()
