"""Tests of the headline: one sentence for any mix of verdicts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span
from iostudy.report.topics.sentences import AnswerContext, build_headline, summarize_workloads
from iostudy.report.topics.verdicts import Result
from iostudy.report.values import GuardReport, WorkloadReport
from iostudy.workloads.definition import Figure
from tests.report.factory import report, result, span

TOPIC = AnswerContext(noun="scheduler", limit="3 %", max_blocks=20)
RATE = Figure(name="bandwidth", unit="MiB/s", documentation="", higher_is_better=True)
TIME = Figure(name="exec_time", unit="s", documentation="", higher_is_better=False)
BETTER, WORSE = Verdict.BETTER, Verdict.WORSE
SAME, OPEN = Verdict.EQUIVALENT, Verdict.INCONCLUSIVE
HARMLESS = Verdict.NOT_WORSE
SIZE = {
    HARMLESS: (0.01, span(-0.02, 0.05)),
    Verdict.NOT_BETTER: (-0.01, span(-0.05, 0.02)),
    BETTER: (0.08, span(0.06, 0.1)),
    WORSE: (-0.12, span(-0.15, -0.09)),
    SAME: (0.0, span(-0.01, 0.01)),
    OPEN: (0.01, span(-0.05, 0.07)),
}


def workload(label: str, *results: Result) -> WorkloadReport:
    return WorkloadReport(
        label=label,
        name="file-writes",
        models="",
        leaves_out="",
        options={},
        figure=RATE,
        results=(result("none", blocks=20), *results),
        answer="",
    )


def compared(name: str, verdict: Verdict, blocks: int = 20, needed: int | None = 55) -> Result:
    change, interval = SIZE[verdict]
    open_ = {"blocks_needed": needed} if verdict is OPEN else {}
    return result(
        name,
        verdict,
        change=change,
        interval=interval,
        blocks=blocks,
        by_margin=True,
        not_worse=verdict in (BETTER, SAME, HARMLESS),
        **open_,
    )


def workload_reports(
    verdicts: dict[str, dict[str, Verdict]], blocks: int = 20
) -> list[WorkloadReport]:
    """Workload -> configuration -> verdict."""
    return [
        workload(name, *(compared(own, verdict, blocks) for own, verdict in others.items()))
        for name, others in verdicts.items()
    ]


def said(verdicts: dict[str, dict[str, Verdict]], *candidates: str) -> str:
    return build_headline(workload_reports(verdicts), TOPIC, candidates)


def test_a_bound_decides_nothing() -> None:
    found = workload_reports({"write": {"no log": BETTER, "bfq": SAME}})
    bounded = [
        own.model_copy(
            update={
                "results": tuple(
                    each.model_copy(update={"bound": each.configuration == "no log"})
                    for each in own.results
                )
            }
        )
        for own in found
    ]
    said = build_headline(bounded, TOPIC, [])
    assert "no log" not in said
    assert "bfq does not differ" in said


def test_headline_names_winner_gain_and_unchanged_workloads() -> None:
    both = {"write": {"kyber": BETTER, "bfq": WORSE}, "read": {"kyber": SAME, "bfq": SAME}}
    assert said(both, "kyber") == (
        "kyber is better than “none”: by 8.0 % [6.0, 10.0] on write, and equivalent within "
        "3 % on read."
    )


def test_others_that_are_better_too_are_named() -> None:
    both = {"write": {"kyber": BETTER, "bfq": BETTER}, "read": {"kyber": HARMLESS, "bfq": SAME}}
    assert said(both, "kyber", "bfq") == (
        "kyber and bfq are better than “none”; kyber, with the highest estimate, by 8.0 % "
        "[6.0, 10.0] on write, and not worse by 3 % on read."
    )


def test_a_workload_outside_the_goal_is_named() -> None:
    both = {"write": {"kyber": BETTER}, "read": {"kyber": OPEN}}
    assert said(both, "kyber").endswith("on write, and without a required verdict on read.")


def test_a_loss_that_the_goal_allows_is_named() -> None:
    three = {"write": {"kyber": WORSE}, "read": {"kyber": BETTER}, "mixed": {"kyber": SAME}}
    assert said(three, "kyber") == (
        "kyber is better than “none”: by 8.0 % [6.0, 10.0] on read, and equivalent within 3 % on "
        "mixed and worse by 12.0 % [9.0, 15.0] on write, which the goal allows."
    )
    assert "without a required verdict" not in said({**three, "mixed": {"kyber": BETTER}}, "kyber")


def test_better_without_a_guard_is_no_recommendation() -> None:
    both = {"write": {"kyber": BETTER}, "read": {"kyber": OPEN}}
    assert said(both).startswith(
        "No scheduler meets the goal: kyber is better than “none” on write, and not shown to be "
        "harmless on read; 1 of 2 comparisons is inconclusive"
    )


def test_what_is_equivalent_or_better_by_a_guard_alone_is_not_called_harmful() -> None:
    three = {"write": {"kyber": BETTER}, "read": {"kyber": SAME}, "mixed": {"kyber": OPEN}}
    assert "not shown to be harmless on mixed;" in said(three)
    (own,) = workload_reports({"write": {"kyber": SAME}})
    guard = GuardReport(figure=TIME, results=(result("none"), compared("kyber", BETTER)))
    text = build_headline([own.model_copy(update={"guards": (guard,)})], TOPIC, [])
    assert "meets the goal" not in text


def test_a_goal_that_is_met_at_its_own_level_has_changes_with_signs() -> None:
    both = {"write": {"kyber": HARMLESS}, "read": {"kyber": OPEN}}
    assert said(both, "kyber") == (
        "kyber meets the goal of the study: +1.0 % [-2.0, +5.0] on write and +1.0 % [-5.0, +7.0] "
        "on read against “none” (these intervals have the level of all verdicts, which is "
        "stricter)."
    )


def test_nothing_disturbs_a_difference_that_waits_for_an_order() -> None:
    shown = compared("kyber", OPEN).model_copy(update={"interval": span(0.02, 0.1)})
    text = build_headline([workload("write", shown)], TOPIC, [], disturbance="steal")
    assert "steal" not in text


def test_what_does_no_harm_is_said() -> None:
    assert said({"write": {"kyber": HARMLESS}}) == (
        "kyber is not worse than “none” by 3 %: +1.0 % [-2.0, +5.0]."
    )
    assert said(
        {"write": {"kyber": HARMLESS, "bfq": OPEN}, "read": {"kyber": SAME, "bfq": SAME}}
    ) == (
        "kyber is not worse than “none” by 3 % on any workload; 1 of 4 comparisons is "
        "inconclusive: about 55 blocks are needed."
    )
    assert said({"write": {"kyber": Verdict.NOT_BETTER}}) == (
        "No scheduler is shown to differ from “none”."
    )


def test_a_verdict_that_another_test_does_not_give_is_fragile() -> None:
    (own,) = workload_reports({"write": {"kyber": BETTER, "bfq": SAME, "mq": OPEN}})
    fragile = [
        each.model_copy(update={"fragile": each.configuration in ("kyber", "mq")})
        for each in own.results
    ]
    text = build_headline([own.model_copy(update={"results": tuple(fragile)})], TOPIC, ["kyber"])
    assert text == "kyber is better than “none”: by 8.0 % [6.0, 10.0]; 1 of 2 verdicts is fragile."


def test_many_workloads_are_counted() -> None:
    many = {f"w{n}": {"kyber": BETTER if n < 5 else SAME} for n in range(10)}
    assert said(many, "kyber") == (
        "kyber is better than “none”: on 5 of 10 workloads, and equivalent within 3 % on "
        "the other 5."
    )


def test_mixed_configuration_does_not_win() -> None:
    divided = {"write": {"kyber": BETTER, "bfq": WORSE}, "read": {"kyber": WORSE, "bfq": BETTER}}
    assert said(divided) == (
        "No scheduler is better on all workloads: kyber is better than “none” on write, and worse "
        "on read, and 1 more differs by workload."
    )


def test_nothing_differs() -> None:
    equal = {"write": {"kyber": SAME, "bfq": SAME}, "read": {"kyber": SAME, "bfq": SAME}}
    assert said(equal) == "No scheduler differs from “none” by more than 3 % on any workload."
    assert said({"write": {"bfq": SAME}}) == "bfq does not differ from “none” by more than 3 %."


def test_nothing_is_better() -> None:
    assert said({"write": {"kyber": SAME, "bfq": WORSE}}) == (
        "No scheduler is shown to be better, and bfq is worse than “none”: by 12.0 % [9.0, 15.0]."
    )
    assert said({"write": {"bfq": WORSE}, "read": {"bfq": SAME}}) == (
        "bfq is worse than “none”: by 12.0 % [9.0, 15.0] on write."
    )


def test_undecided_headline_names_the_required_blocks() -> None:
    assert said({"write": {"kyber": OPEN}, "read": {"kyber": OPEN}}) == (
        "All comparisons with “none” are inconclusive after 20 blocks: about 55 blocks are needed."
    )
    assert said({"write": {"kyber": OPEN, "bfq": WORSE}}) == (
        "No scheduler is shown to be better, and bfq is worse than “none”: by 12.0 % [9.0, 15.0]; "
        "1 of 2 comparisons is inconclusive: about 55 blocks are needed."
    )
    assert said({"write": {"kyber": OPEN}, "read": {"kyber": SAME}}).startswith(
        "No scheduler is shown to differ from “none”; 1 of 2 comparisons is inconclusive"
    )


def test_infeasible_and_unknown_numbers_of_blocks_are_omitted() -> None:
    many = [workload("write", compared("kyber", OPEN, needed=4000))]
    assert "more blocks alone are unlikely to decide" in build_headline(many, TOPIC, [])
    unknown = [workload("write", compared("kyber", OPEN, needed=None))]
    assert (
        build_headline(unknown, TOPIC, [])
        == "The comparison with “none” is inconclusive after 20 blocks."
    )


def test_the_sentence_names_what_disturbed_the_undecided() -> None:
    open_ = [workload("write", compared("kyber", OPEN, needed=4000))]
    assert build_headline(open_, TOPIC, [], disturbance="other processes used 91 % of the CPU") == (
        "The comparison with “none” is inconclusive after 20 blocks: other processes used 91 % of "
        "the CPU, and more blocks alone are unlikely to decide."
    )


def test_headline_of_an_unfinished_study_is_provisional() -> None:
    assert build_headline(workload_reports({"write": {"kyber": OPEN}}, blocks=6), TOPIC, []) == (
        "So far, the comparison with “none” is still open after 6 blocks: about 55 blocks are "
        "needed."
    )


def test_nothing_to_compare_and_nothing_finished() -> None:
    assert "measured alone" in build_headline([workload("write")], TOPIC, [])
    empty = workload("write").model_copy(update={"results": (result("none", blocks=0),)})
    assert build_headline([empty], TOPIC, []) == "No data: no block has finished."


NAMES = ("bfq", "kyber", "a, b", "x", "y")


@st.composite
def mixes(draw: st.DrawFn) -> list[WorkloadReport]:
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    count = draw(st.integers(1, 6))
    return [
        workload(
            f"w{n}",
            *(
                compared(
                    name,
                    draw(st.sampled_from(Verdict)),
                    draw(st.sampled_from((0, 6, 20))),
                    draw(st.sampled_from((None, 7, 5000))),
                )
                for name in names
            ),
        )
        for n in range(count)
    ]


def verdicts_of(mix: list[WorkloadReport]) -> dict[str, set[Verdict | None]]:
    found: dict[str, set[Verdict | None]] = {}
    for own in mix:
        for each in own.results[1:]:
            found.setdefault(each.configuration, set()).add(each.verdict)
    return found


@given(mixes())
def test_any_mix_of_verdicts_is_one_sentence_without_overclaims(
    mix: list[WorkloadReport],
) -> None:
    found = verdicts_of(mix)
    winners = [name for name, own in found.items() if BETTER in own and WORSE not in own]
    text = build_headline(mix, TOPIC, winners)
    every = set().union(*found.values())
    assert re.fullmatch(r"[^.\n]*(\.\d[^.\n]*)*\.", text), text
    assert len(text) < 420
    claims_better = re.search(r"(is|are) better than “none”", text) is not None
    assert claims_better == (BETTER in every)
    assert (" worse than “none”" in text or "worse on w" in text) >= (
        WORSE in every and BETTER not in every
    )
    if every == {SAME}:
        assert "differ from “none” by more than 3 %" in text or "differs from “none”" in text
    if every <= {OPEN}:
        assert re.search("inconclusive|still open|No data", text)


@given(mixes())
def test_answer_sentences_are_unique(mix: list[WorkloadReport]) -> None:
    sentences = summarize_workloads(mix, TOPIC)
    assert len(set(sentences)) == len(sentences)
    assert sum("nothing" in text for text in sentences) <= 1


@pytest.mark.parametrize(("blocks", "noise"), [(0, 0.01), (3, 0.05), (8, 0.01), (20, 0.05)])
def test_every_report_has_one(blocks: int, noise: float) -> None:
    assert re.fullmatch(r"[^.\n]*(\.\d[^.\n]*)*\.", report(blocks=blocks, noise=noise).headline)


@pytest.mark.parametrize("verdict", [BETTER, WORSE])
@pytest.mark.parametrize(
    ("change", "interval"), [(None, None), (-0.5, None), (None, Span(low=-1.0, high=-0.4))]
)
@pytest.mark.parametrize("figure", [RATE, TIME])
def test_a_verdict_of_failed_runs_names_them_in_place_of_a_size(
    verdict: Verdict, change: float | None, interval: Span | None, figure: Figure
) -> None:
    own = result("kyber", verdict, change=change, interval=interval, blocks=20, value=None)
    reported = workload("write", own).model_copy(update={"figure": figure})
    candidates = ["kyber"] if verdict is BETTER else []
    said = build_headline([reported], TOPIC, candidates)
    assert said == f"kyber is {verdict} than “none”: runs failed."
    (sentence,) = summarize_workloads([reported], TOPIC)
    assert f"kyber is {verdict}: runs failed" in sentence


@pytest.mark.parametrize("verdict", [Verdict.NOT_WORSE, Verdict.INCONCLUSIVE])
def test_a_change_without_a_size_is_not_named(verdict: Verdict) -> None:
    own = result("kyber", verdict, change=None, interval=Span(low=-1.0, high=0.01), blocks=20)
    assert "–" not in build_headline([workload("write", own)], TOPIC, [])
    (sentence,) = summarize_workloads([workload("write", own)], TOPIC)
    assert "–" not in sentence
