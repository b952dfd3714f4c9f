"""Reports of trials on several nodes: no diagnosis, and commands of a fleet."""

from __future__ import annotations

from iostudy.ledger.studies import NODES
from iostudy.report.topics.bottlenecks import diagnose_trials
from iostudy.report.topics.method import list_reproduction_steps
from iostudy.report.topics.next_steps import suggest_next_steps
from iostudy.results.comparisons import compare_configurations
from tests.report.factory import rows, study, study_row

STUDY = study(workloads=("file-writes",))
CIRCUMSTANCES = {NODES: {"a": {}, "b": {}, "c": {}}}


def test_trials_of_several_nodes_are_not_diagnosed() -> None:
    found = rows(STUDY, blocks=3)
    assert diagnose_trials(STUDY, CIRCUMSTANCES, found) == {}
    assert diagnose_trials(STUDY, {}, found)


def test_commands_are_those_of_a_fleet() -> None:
    row = study_row(STUDY, CIRCUMSTANCES)
    (*_, run) = list_reproduction_steps(STUDY, row)
    assert "`seed: 7`" in run
    assert "--design together` as root on a, b and c." in run
    undecided = compare_configurations(STUDY, rows(STUDY, blocks=3))
    (resume,) = suggest_next_steps(STUDY, row, undecided, "out", None)
    assert resume.command.endswith("--design together --resume --out out")
    better = {("file-writes", "kyber"): 0.3}
    decided = compare_configurations(STUDY, rows(STUDY, blocks=20, effects=better, noise=0.004))
    (keep,) = suggest_next_steps(STUDY, row, decided, "out", None)
    assert keep.text == "Set block.scheduler to kyber on every node, with your own tools."
