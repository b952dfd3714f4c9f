"""The whole program on a real disk: equal configurations and known slow-downs."""

from __future__ import annotations

from pathlib import Path

import pytest
import scipy

from iostudy.analysis.verdict import Verdict
from iostudy.cli.selftest import ExpectationOutcome, build_selftest, study_on
from iostudy.execution.session import prepare_session
from iostudy.node.conditions import Conditions
from iostudy.node.local import LocalNode
from iostudy.study.parser import parse

STUDIES, RISK = 20, 0.05
TEXT = """
question: Is a scheduler different from itself?
target: {loopback: {size: 256MiB}}
factors: {block.scheduler: {first: none, second: none}}
workloads: [{io: {operation: write, jobs: 2, size: 64MiB, direct: true, sync: fsync}}]
decide: {margin: 3%, risk: 5%, blocks: [5, 10]}
"""


def verdict(folder: Path, seed: int) -> Verdict:
    folder.mkdir()
    study = parse(TEXT, where="study.yaml", name="study")
    assignment = prepare_session(study, folder, root=True, resume=False)
    with LocalNode(Conditions(study.target), folder) as node:
        (standing,) = assignment.execute(node, seed=seed, listeners=[])
    return standing.comparison.verdict


@pytest.mark.slow
@pytest.mark.root
def test_twenty_studies_of_one_scheduler_under_two_labels(tmp_path, monkeypatch, record_property):
    """More than ``allowed`` of 20 would name a winner with a probability under 1 %."""
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))
    verdicts = [verdict(tmp_path / f"study-{seed}", seed) for seed in range(STUDIES)]
    named = sum(v in (Verdict.BETTER, Verdict.WORSE) for v in verdicts)
    allowed = int(scipy.stats.binom.ppf(0.99, STUDIES, RISK))
    record_property("studies that named a winner", named)
    assert named <= allowed, sorted(verdicts)


def outcome(folder: Path) -> ExpectationOutcome:
    folder.mkdir()
    study = study_on(folder)
    assignment = prepare_session(study, folder, root=False, resume=False)
    with LocalNode(Conditions(study.target, study.factors), folder) as node:
        final = assignment.execute(node, seed=None, listeners=[])
    return build_selftest(study, final, str(folder)).outcome


@pytest.mark.slow
def test_slow_downs_that_are_known_are_found(tmp_path, monkeypatch, record_property):
    """One of two may fail by chance; a right program fails both with a probability under 0.3 %."""
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))
    outcomes = [outcome(tmp_path / name) for name in ("first", "second")]
    record_property("outcomes", [str(each) for each in outcomes])
    assert set(outcomes) != {ExpectationOutcome.FAILED}, (
        "a slow-down that is known is not what is found"
    )
