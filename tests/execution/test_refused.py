"""Configurations that a host refuses before the first trial."""

from __future__ import annotations

import pytest

from iostudy.errors import SettingError
from iostudy.ledger.store import Ledger
from iostudy.ledger.studies import recorded_study
from iostudy.node.fake import FakeNode
from tests.execution.test_runner import TEXT, conduct, failed, rows

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


def test_omissions_are_decided_once(tmp_path):
    conduct(tmp_path, refusing("bfq"), text=LEAVE_OUT)
    before = rows(tmp_path)
    conduct(tmp_path, FakeNode(), text=LEAVE_OUT, resume=True)
    assert rows(tmp_path) == before
    with pytest.raises(SettingError):
        conduct(tmp_path, refusing("kyber"), text=LEAVE_OUT, resume=True)
