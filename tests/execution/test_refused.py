"""Configurations that a host refuses before the first trial."""

from __future__ import annotations

import pytest

from iostudy.errors import SettingError
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import recorded_study
from tests.execution.test_runner import TEXT, conduct, failed, rows
from tests.fake_node import FakeNode

LEAVE_OUT = TEXT + "refused: leave-out\n"


def refusing(*labels):
    return FakeNode(refuses={label: failed(SettingError) for label in labels})


def test_a_refusal_stops_a_study_that_says_nothing_of_it(tmp_path):
    with pytest.raises(SettingError):
        conduct(tmp_path, refusing("bfq"))
    assert list(tmp_path.iterdir()) == []


def test_refused_configurations_are_omitted_noted_and_share_no_risk(tmp_path):
    final = conduct(tmp_path, refusing("bfq"), text=LEAVE_OUT)
    assert {standing.configuration for standing in final} == {"kyber"}
    assert {row.configuration for row in rows(tmp_path)} == {"none", "kyber"}
    ledger = Ledger.open(tmp_path, read_only=True)
    recorded = recorded_study(ledger.study())
    ledger.close()
    assert recorded.notes == ("bfq is left out: to write: no space left",)
    assert recorded.comparisons == 2


@pytest.mark.parametrize("labels", [("none",), ("kyber", "bfq")])
def test_without_a_baseline_or_anything_to_compare_there_is_no_study(tmp_path, labels):
    with pytest.raises(SettingError):
        conduct(tmp_path, refusing(*labels), text=LEAVE_OUT)


NAMED = """\
question: Which?
target: .
factors:
  block.scheduler: [none, kyber]
  block.nomerges: [0, 2]
configurations:
  before: {}
  after: {block.scheduler: kyber, block.nomerges: 2}
  kyber alone: {block.scheduler: kyber}
  nomerges alone: {block.nomerges: 2}
workloads: [{io: {label: file-writes, operation: write}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 8]}
"""
KYBER = FakeNode(refuses={"block.scheduler=kyber": failed(SettingError)})


def read(folder):
    ledger = Ledger.open(folder, read_only=True)
    study = recorded_study(ledger.study())
    ledger.close()
    return study


def test_a_configuration_keeps_the_levels_that_are_accepted(tmp_path):
    text = NAMED.replace("  nomerges alone: {block.nomerges: 2}\n", "") + "refused: leave-out\n"
    for resume in (False, True):
        final = conduct(tmp_path, KYBER, text=text, resume=resume)
        assert {standing.configuration for standing in final} == {"after"}
    study = read(tmp_path)
    assert study.configurations()[1].settings == {"block.scheduler": "none", "block.nomerges": "2"}
    assert study.reduced == {"after": "block.scheduler=kyber: to write: no space left"}
    assert study.notes == (
        "after lacks block.scheduler=kyber: to write: no space left",
        (
            "kyber alone is left out: without block.scheduler=kyber: to write: no space left, it "
            "is before"
        ),
    )


def test_a_configuration_that_becomes_another_one_is_left_out_itself(tmp_path):
    final = conduct(tmp_path, KYBER, text=NAMED + "refused: leave-out\n")
    assert {standing.configuration for standing in final} == {"nomerges alone"}
    assert set(read(tmp_path).left_out) == {"after", "kyber alone"}
    later = NAMED.replace("  before: {}\n", "").replace(
        "workloads:", "  before: {}\nbaseline: before\nworkloads:"
    )
    (tmp_path / "later").mkdir()
    final = conduct(tmp_path / "later", KYBER, text=later + "refused: leave-out\n")
    assert {(own.baseline, own.configuration) for own in final} == {("before", "nomerges alone")}


def test_the_baselines_own_level_stands_for_a_refused_one(tmp_path):
    text = NAMED.replace("[none, kyber]", "[mq-deadline, none, kyber]").replace(
        "before: {}", "before: {block.scheduler: none}"
    )
    text = text.replace("  nomerges alone: {block.nomerges: 2}\n", "")
    conduct(tmp_path, KYBER, text=text + "refused: leave-out\n")
    after = next(own for own in read(tmp_path).configurations() if own.label == "after")
    assert after.settings == {"block.scheduler": "none", "block.nomerges": "2"}


CROSSED = """\
question: Which?
target: .
factors:
  block.scheduler: [none, kyber]
  block.nomerges: [0, 2]
baseline: scheduler=none, nomerges=2
workloads: [{io: {label: file-writes, operation: write}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 8]}
refused: leave-out
"""


def test_crossed_factors_keep_their_labels_and_their_baseline(tmp_path):
    final = conduct(tmp_path, KYBER, text=CROSSED)
    assert {(own.baseline, own.configuration) for own in final} == {
        ("scheduler=none, nomerges=2", "scheduler=none, nomerges=0")
    }
    assert read(tmp_path).reduced == {}


def test_a_strict_study_leaves_out_whole_configurations(tmp_path):
    final = conduct(tmp_path, KYBER, text=NAMED + "refused: strict\n")
    assert {standing.configuration for standing in final} == {"nomerges alone"}


def test_a_refusal_of_levels_together_leaves_out_the_configuration(tmp_path):
    node = FakeNode(refuses={"after": failed(SettingError)})
    final = conduct(tmp_path, node, text=NAMED + "refused: leave-out\n")
    assert {s.configuration for s in final} == {"kyber alone", "nomerges alone"}


def test_a_lost_comparison_is_the_error(tmp_path):
    text = NAMED.replace("  kyber alone: {block.scheduler: kyber}\n", "").replace(
        "after: {block.scheduler: kyber, block.nomerges: 2}\n  nomerges alone: {block.nomerges: 2}",
        "after: {block.scheduler: kyber}",
    )
    with pytest.raises(SettingError, match="a comparison with before: to write") as raised:
        conduct(tmp_path, KYBER, text=text + "refused: leave-out\n")
    assert raised.value.exit_code == 3


DESIGN = """\
question: Which?
target: .
factors:
  block.scheduler: [none, kyber]
  block.nomerges: [0, 2]
  block.rq_affinity: [1, 2]
  block.read_ahead_kb: [128, 256]
design: full
workloads: [{io: {label: file-writes, operation: write}}]
decide: {margin: 3%, risk: 5%, blocks: [3, 3]}
refused: leave-out
"""


@pytest.mark.all_plugins
def test_a_design_screens_the_other_factors(tmp_path):
    conduct(tmp_path, KYBER, text=DESIGN)
    ledger = Ledger.open(tmp_path, read_only=True)
    study = recorded_study(ledger.study())
    ledger.close()
    assert len(study.configurations()) == 8
    assert study.notes == ("block.scheduler=kyber is left out: to write: no space left",)


def test_omissions_are_decided_once(tmp_path):
    conduct(tmp_path, refusing("bfq"), text=LEAVE_OUT)
    before = rows(tmp_path)
    conduct(tmp_path, FakeNode(), text=LEAVE_OUT, resume=True)
    assert rows(tmp_path) == before
    with pytest.raises(SettingError):
        conduct(tmp_path, refusing("kyber"), text=LEAVE_OUT, resume=True)
