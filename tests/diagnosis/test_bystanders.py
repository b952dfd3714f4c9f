"""When a diagnosis of a trial beside a bystander counts as right."""

from __future__ import annotations

import pytest

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.evidence import Confidence
from tests.diagnosis.bystanders import JudgedTrial, Trial, build_table


def judged(*limits: Bottleneck) -> JudgedTrial:
    findings = tuple(Finding(limit, "loop0", 90.0, Confidence.HIGH, ()) for limit in limits)
    return JudgedTrial("a bystander", Trial(capped=True), Diagnosis(findings), 1.0)


@pytest.mark.parametrize(
    ("limits", "is_right"),
    [
        ((Bottleneck.CAP,), True),
        ((Bottleneck.CAP, Bottleneck.DEVICE), True),
        ((Bottleneck.CAP, Bottleneck.FOREIGN), False),
        ((Bottleneck.FOREIGN, Bottleneck.CAP), False),
        ((Bottleneck.DEVICE, Bottleneck.CAP), False),
        ((), False),
    ],
)
def test_only_the_trials_limit_comes_first_and_others_nowhere(limits, is_right):
    assert judged(*limits).is_right == is_right


def test_the_table_counts_right_unclear_and_blamed_trials():
    found = [judged(Bottleneck.CAP), judged(Bottleneck.FOREIGN), judged()]
    rows = {(row[0], row[1]): row[2] for row in build_table(found)}
    assert rows["a bystander", "high"] == rows["all bystanders", "high"] == "1 of 2"
    assert rows["unclear", ""] == rows["others named in any finding", ""] == "1 of 3"
