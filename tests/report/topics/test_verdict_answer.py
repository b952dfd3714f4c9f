from __future__ import annotations

from collections.abc import Sequence

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import find_factor_noun
from iostudy.report.topics.sentences import AnswerContext, build_predicate, build_sentences
from iostudy.report.topics.verdicts import Result
from iostudy.workloads.definition import Figure
from tests.report.factory import factor, result, span

TOPIC = AnswerContext(noun="scheduler", limit="3 %", max_blocks=20)
RATE = Figure(name="bandwidth", unit="MiB/s", documentation="", higher_is_better=True)
TIME = Figure(name="exec_time", unit="s", documentation="", higher_is_better=False)
BASELINE = result("none")
BFQ_COSTS = result("bfq", Verdict.WORSE, change=-0.12, interval=span(-0.15, -0.09), by_margin=True)
KYBER_GAINS = result(
    "kyber", Verdict.BETTER, change=0.08, interval=span(0.06, 0.10), by_margin=True
)
DEADLINE_SAME = result("mq-deadline", Verdict.EQUIVALENT, change=0.001, interval=span(-0.01, 0.012))
KYBER_SAME = result("kyber", Verdict.EQUIVALENT, change=0.0, interval=span(-0.02, 0.02))


def said(*others: Result, figure: Figure = RATE) -> str:
    return build_predicate((BASELINE, *others), figure, TOPIC)


def test_no_configuration_differs() -> None:
    assert said(DEADLINE_SAME, KYBER_SAME) == "no scheduler differs from “none” by more than 3 %"


def test_a_single_other_configuration_is_named() -> None:
    assert said(KYBER_SAME) == "kyber does not differ from “none” by more than 3 %"


def test_cost_is_a_positive_percentage_with_its_interval() -> None:
    assert said(BFQ_COSTS) == "compared with “none”: bfq costs 12.0 % [9.0, 15.0]"


def test_gains_come_before_costs_and_costs_before_the_rest() -> None:
    assert said(DEADLINE_SAME, BFQ_COSTS, KYBER_GAINS) == (
        "compared with “none”: kyber gains 8.0 % [6.0, 10.0]; bfq costs 12.0 % [9.0, 15.0]; "
        "mq-deadline does not differ by more than 3 %"
    )


def test_a_lower_time_saves_and_a_higher_time_costs() -> None:
    faster = result("bfq", Verdict.BETTER, change=-0.1, interval=span(-0.13, -0.07), by_margin=True)
    slower = result("kyber", Verdict.WORSE, change=0.2, interval=span(0.1, 0.31), by_margin=True)
    assert said(faster, slower, figure=TIME) == (
        "compared with “none”: bfq saves 10.0 % [7.0, 13.0]; kyber costs 20.0 % [10.0, 31.0]"
    )


def test_an_effect_that_may_lie_within_the_margin_says_so() -> None:
    small = result("bfq", Verdict.WORSE, change=-0.035, interval=span(-0.06, -0.01))
    assert said(small) == (
        "compared with “none”: bfq costs 3.5 % [1.0, 6.0], perhaps less than the margin of 3 %"
    )


def test_an_inconclusive_comparison_says_what_would_be_needed() -> None:
    undecided = result(
        "kyber",
        Verdict.INCONCLUSIVE,
        change=-0.012,
        interval=span(-0.045, 0.022),
        blocks=20,
        blocks_needed=55,
    )
    assert said(undecided) == (
        "compared with “none”: kyber at -1.2 % [-4.5, +2.2] is inconclusive after 20 blocks "
        "(about 55 needed)"
    )


def test_infeasible_block_estimates_are_capped_in_sentences() -> None:
    undecided = result("kyber", Verdict.INCONCLUSIVE, blocks=20, blocks_needed=6941)
    assert said(undecided).endswith("(more than 1000 needed)")


def test_open_comparison_is_not_reported_as_inconclusive() -> None:
    undecided = result("kyber", Verdict.INCONCLUSIVE, blocks=1)
    assert said(undecided) == "compared with “none”: kyber is still open after 1 block"


def test_configuration_without_blocks_among_others_with_blocks() -> None:
    empty = result("kyber", Verdict.INCONCLUSIVE, blocks=0, value=None)
    assert said(BFQ_COSTS, empty).endswith("; kyber has no finished block")


def undecided(*names: str, blocks: int = 20, needed: Sequence[int | None] = ()) -> list[Result]:
    numbers = needed or [55] * len(names)
    return [
        result(name, Verdict.INCONCLUSIVE, blocks=blocks, blocks_needed=number)
        for name, number in zip(names, numbers, strict=True)
    ]


def test_answer_without_any_verdict_is_one_clause() -> None:
    assert said(*undecided("bfq", "kyber", needed=(55, 5000))) == (
        "all comparisons with “none” are inconclusive after 20 blocks "
        "(about 55 to more than 1000 needed)"
    )
    assert said(*undecided("bfq", "kyber", blocks=6, needed=(9, 9))) == (
        "all comparisons with “none” are still open after 6 blocks (about 9 needed)"
    )


def test_verdicts_precede_open_comparisons() -> None:
    rest = undecided("a", "b", "c", needed=(155, 5, 55))
    assert said(*rest, BFQ_COSTS) == (
        "compared with “none”: bfq costs 12.0 % [9.0, 15.0]; a, b and c are inconclusive "
        "after 20 blocks (about 5 to 155 needed)"
    )
    more = undecided("a", "b", "c", "d", needed=(5, 55, None, 7))
    assert said(*more, BFQ_COSTS).endswith("; 4 others are inconclusive after 20 blocks")


def test_undecided_after_different_numbers_of_blocks() -> None:
    rest = [*undecided("a", needed=(9,)), *undecided("b", blocks=6, needed=(90,))]
    assert said(*rest) == (
        "all comparisons with “none” are still open after 6 to 20 blocks (about 9 to 90 needed)"
    )


def test_equal_infeasible_numbers_of_blocks_are_merged() -> None:
    assert "(more than 1000 needed)" in said(*undecided("a", "b", needed=(1001, 9999)))


def test_configurations_without_blocks_share_a_clause() -> None:
    empty = [result(n, Verdict.INCONCLUSIVE, blocks=0, value=None) for n in ("a", "b")]
    assert said(BFQ_COSTS, *empty).endswith("; a and b have no finished block")
    assert said(*undecided("c"), *empty).endswith("; a and b have no finished block")


def test_answer_without_a_finished_block() -> None:
    baseline = result("none", blocks=0, value=None)
    empty = result("bfq", Verdict.INCONCLUSIVE, blocks=0, value=None)
    assert build_predicate((baseline, empty), RATE, TOPIC) == (
        "there are no data: no block has finished"
    )


def test_single_configuration_has_no_verdict() -> None:
    assert said() == (
        "“none” gives 400 MiB/s (geometric mean of 8 blocks); "
        "there is no other scheduler to compare it with"
    )


@pytest.mark.parametrize("result", [DEADLINE_SAME, BFQ_COSTS])
def test_a_fragile_verdict_is_marked_in_the_sentence(result: Result) -> None:
    fragile = result.model_copy(update={"fragile": True})
    assert "fragile" in said(fragile)
    assert "fragile" in said(fragile, KYBER_GAINS)
    assert "fragile" not in said(result, KYBER_GAINS)


def test_ambiguous_labels_are_quoted() -> None:
    label = "direct=on, record_size=1MiB"
    assert said(result(label, Verdict.EQUIVALENT)).startswith(f"“{label}” does not differ")


def test_workloads_with_equal_results_share_a_sentence() -> None:
    assert build_sentences({"read": "x", "write": "y", "sort": "x"}) == (
        "On read and sort, x.",
        "On write, y.",
    )


def test_every_verdict_is_worded() -> None:
    for verdict in Verdict:
        losing = result("bfq", verdict, change=-0.1, interval=span(-0.2, -0.05))
        assert "bfq" in said(losing, KYBER_GAINS)


@pytest.mark.parametrize(
    ("names", "noun"),
    [
        (["block.scheduler"], "scheduler"),
        (["workload.run"], "command"),
        (["workload.direct"], "direct value"),
        (["block.read_ahead_kb"], "read_ahead_kb value"),
        (["block.scheduler", "workload.direct"], "configuration"),
    ],
)
def test_varied_factor_has_a_noun(names: list[str], noun: str) -> None:
    assert find_factor_noun([factor(name, "a", "b") for name in names]) == noun
