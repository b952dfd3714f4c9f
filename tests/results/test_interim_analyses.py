from __future__ import annotations

from unittest.mock import patch

from iostudy.results import comparisons
from iostudy.results.comparisons import InterimAnalysis, compare_configurations
from tests.report.factory import disturbed, rows, study


def test_every_look_is_what_all_rows_give() -> None:
    plan, kept = study(), InterimAnalysis(study())
    trials = disturbed(rows(plan))
    for end in (0, 4, 8, 8, 40, len(trials)):
        assert repr(kept.compare(trials[:end])) == repr(compare_configurations(plan, trials[:end]))


def test_rows_of_another_ledger_begin_anew() -> None:
    plan, kept = study(), InterimAnalysis(study())
    kept.compare(rows(plan, noise=0.05))
    for others in (rows(plan, blocks=3), rows(plan, noise=0.02)):
        assert repr(kept.compare(others)) == repr(compare_configurations(plan, others))


def test_only_the_workload_of_a_block_is_judged_again() -> None:
    plan, kept = study(), InterimAnalysis(study())
    trials = rows(plan)
    (workload,) = {row.workload for row in trials[-4:]}
    kept.compare(trials[:-4])
    with patch.object(
        comparisons, "compare_on_workload", wraps=comparisons.compare_on_workload
    ) as judged:
        kept.compare(trials)
        kept.compare(trials)
    assert [call.args[1].label for call in judged.call_args_list] == [workload]
