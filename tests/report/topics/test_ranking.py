"""Tests of the ranking over all workloads, in every format."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import pytest
from rich.console import Console

from iostudy.report.render import html, markdown, terminal
from iostudy.report.topics.ranking import RankedConfiguration, RankingReport
from iostudy.report.values import Report
from iostudy.study.model import Study
from iostudy.study.reference import PublishedOrder
from tests.report.factory import EFFECTS, build_report, factor, report, rows, study, study_row

CROSSED = {**EFFECTS, ("file-reads", "kyber"): -0.1}


def ranking(of: Report) -> RankingReport:
    assert of.ranking is not None
    return of.ranking


def ranked(of: Report, configuration: str) -> RankedConfiguration:
    return next(own for own in ranking(of).ranked if own.configuration == configuration)


def weighted(**weights: float) -> Study:
    experiment = study()
    named = {name.replace("_", "-"): weight for name, weight in weights.items()}
    return replace(experiment, decide=replace(experiment.decide, weights=named))


def report_of(of: Study, **options: object) -> Report:
    return build_report(of, study_row(of), rows(of, **options))  # type: ignore[arg-type]


def shown(of: Report, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(terminal.render(of))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_known_effects_are_ranked_the_best_first() -> None:
    of = report(noise=0.004)
    assert [(r.configuration, r.best_rank, r.worst_rank) for r in ranking(of).ranked] == [
        ("kyber", 1, 1),
        *((name, 2, 3) for name in ("mq-deadline", "none")),
        ("bfq", 4, 4),
    ]
    assert ranking(of).best == ("kyber",)
    assert "Over both workloads, the best is scheduler=kyber." in of.answer


def test_percentages_are_those_of_both_workloads_together() -> None:
    of = report(noise=0.004)
    bfq, none = ranked(of, "bfq"), ranked(of, "none")
    assert bfq.change == pytest.approx(math.sqrt(0.88) - 1, abs=0.006)
    assert bfq.interval.low < bfq.change < bfq.interval.high
    mean = (1.08 * 0.88) ** (1 / 8)
    assert none.from_mean == pytest.approx(1 / mean - 1, abs=0.006)
    assert none.change is None
    assert (bfq.worst_workload, ranked(of, "kyber").worst_workload) == ("file-writes", "file-reads")
    assert bfq.worst_from_mean == pytest.approx(0.88 / (1.08 * 0.88) ** 0.25 - 1, abs=0.006)


def test_declared_weights_are_used_and_reported() -> None:
    equal, mostly_reads = report(noise=0.004), report_of(weighted(file_reads=3), noise=0.004)
    assert ranked(mostly_reads, "bfq").change == pytest.approx(0.88 ** (1 / 4) - 1, abs=0.006)
    assert [own.weight for own in ranking(mostly_reads).workloads] == [0.25, 0.75]
    said = "file-writes (25 %) and file-reads (75 %)"
    assert said in re.sub("<[^>]+>", "", html.render(mostly_reads))
    assert said in markdown.render(mostly_reads)
    assert "all workloads with equal weights" in html.render(equal)


def test_a_lower_time_ranks_higher() -> None:
    experiment = study()
    by_time = tuple(
        replace(w, figures=(replace(w.figure, name="exec_time", higher_is_better=False),))
        for w in experiment.workloads
    )
    of = report_of(replace(experiment, workloads=by_time), noise=0.004)
    assert ranking(of).best == ("kyber",)
    assert ranked(of, "bfq").change == pytest.approx(math.sqrt(0.88) - 1, abs=0.006)


def test_places_that_change_leave_no_single_best_and_each_workload_its_ranks() -> None:
    of = report(noise=0.004, effects=CROSSED)
    assert not ranking(of).single_order
    assert (
        "scheduler=none is better than scheduler=kyber on file-reads, and worse on file-writes"
        in ranking(of).answer
    )
    assert ranking(of).answer.startswith("No single scheduler is best: ")
    for text in (shown(of), markdown.render(of), html.render(of)):
        assert "rank on each workload" in text
    assert "rank on each workload" not in shown(report(noise=0.004))


def test_unstable_ranks_of_losers_are_reported_with_a_single_best() -> None:
    effects = {("file-writes", "none"): 0.5, ("file-reads", "none"): 0.5, **CROSSED}
    of = report(noise=0.004, effects=effects)
    assert ranking(of).answer == "Over both workloads, the best is scheduler=none."
    assert (
        "The order depends on the workload: scheduler=mq-deadline is better than scheduler=kyber"
        in markdown.render(of)
    )


@pytest.mark.parametrize(
    ("noise", "effects", "said"),
    [
        (0.004, {}, "Over both workloads, no scheduler is shown to be better than another."),
        (
            0.004,
            {("file-writes", "bfq"): -0.2},
            (
                "Over both workloads, the best is scheduler=none, scheduler=mq-deadline or "
                "scheduler=kyber; "
                "the other is worse."
            ),
        ),
    ],
)
def test_sentence_on_possible_best_configurations(noise, effects, said) -> None:
    assert ranking(report(noise=noise, effects=effects)).answer == said


def test_more_than_three_that_may_be_the_best_are_counted() -> None:
    experiment = study(factor("block.nr_requests", "32", "64", "128", "256", "512"))
    effects = {(workload, "32"): -0.2 for workload in ("file-writes", "file-reads")}
    assert (
        "the best nr_requests value is one of 4"
        in ranking(report_of(experiment, noise=0.004, effects=effects)).answer
    )


def test_one_workload_is_named() -> None:
    of = report_of(study(workloads=["file-writes"]), noise=0.004)
    assert ranking(of).answer == "On file-writes, the best is scheduler=kyber."
    assert "worst workload" not in shown(of)


def test_ranking_is_omitted_where_verdicts_suffice() -> None:
    two = study(factor("block.scheduler", "none", "bfq"), workloads=["file-writes"])
    assert report_of(two).ranking is None
    assert "ombined ranking" not in shown(report_of(two)) + html.render(report_of(two))


def test_before_the_fewest_blocks_there_is_no_ranking() -> None:
    assert report(blocks=4).ranking is None
    assert report(blocks=0).ranking is None
    assert report(blocks=5).ranking is not None


def test_published_ranks_are_listed() -> None:
    of = report_of(replace(study(), reference="R1"), noise=0.004)
    assert of.reference is not None
    orders = (PublishedOrder(where="cluster I", order=("noop", "cfq")),)
    of = of.model_copy(update={"reference": of.reference.model_copy(update={"orders": orders})})
    for text in (shown(of), markdown.render(of).replace("\\", ""), html.render(of)):
        assert "R1, cluster I: noop" in text
