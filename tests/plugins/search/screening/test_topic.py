"""Tests of screening reports: effects, aliases and next steps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.report.base import State
from iostudy.report.drawing import COLOURS
from iostudy.report.render import markdown
from iostudy.report.render.html import read_legend
from iostudy.report.section import Section
from iostudy.report.topics import registry
from iostudy.report.topics.trials import build_run_order_chart
from iostudy.report.values import Report
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy_search.screening.design import DesignKind, ScreeningDesign
from iostudy_search.screening.topic import ScreeningReport
from tests.report import factory
from tests.report.factory import build_report

FACTORS = (
    factory.factor("block.scheduler", "none", "bfq"),
    factory.factor("mount.atime", "relatime", "no, atime"),
    factory.factor("workload.direct", "false", "true"),
    factory.factor("block.nr_requests", "as-found", "64"),
    factory.factor("sysctl.fs.file-max", "as-found", "64000"),
)
FOLDED = ScreeningDesign(DesignKind.PLACKETT_BURMAN)


def screening_study(
    design: ScreeningDesign = FOLDED, workloads: tuple[str, ...] = ("file-writes",)
) -> Study:
    return replace(factory.study(*FACTORS, workloads=workloads), design=design)


def report(study: Study, *, blocks: int = 20, **gains: float) -> Report:
    """Each level whose label ends so multiplies the figure by 1 + gain."""
    effects = {
        (workload.label, run.label): _gain(run.label, gains) - 1
        for workload in study.workloads
        for run in study.configurations()
    }
    rows = factory.rows(study, effects=effects, blocks=blocks)
    return build_report(study, factory.study_row(study), rows)


def section(of: Report) -> Section:
    (screening,) = of.topics
    assert isinstance(screening, ScreeningReport)
    several = len(of.workloads) > 1
    return screening.build_section(factor=of.factor, risk=of.method.risk, several=several)


def _gain(label: str, gains: dict[str, float]) -> float:
    total = 1.0
    for level, gain in gains.items():
        total *= 1 + gain if f"={level}" in label else 1
    return total


def test_the_first_sentence_says_which_factors_matter():
    example = report(screening_study(), bfq=-0.2)
    assert example.headline == (
        "Of 5 factors, 1 matters: block.scheduler; 4 have no effect beyond 3 %."
    )
    assert example.state is State.COMPLETE


def test_screening_without_effects_says_so():
    example = report(screening_study())
    assert example.headline == (
        "Of 5 factors, none is shown to matter; 5 have no effect beyond 3 %."
    )
    assert example.screening is not None
    assert example.screening.predicted is None


def test_several_levels_are_equivalent_to_the_first_and_not_to_each_other():
    factors = (factory.factor("block.scheduler", "none", "kyber", "bfq"), *FACTORS[1:4])
    study = replace(
        factory.study(*factors, workloads=("file-writes",)),
        design=ScreeningDesign(DesignKind.SUBSET, reduction=2),
    )
    assert report(study, kyber=0.015, bfq=-0.015, true=0.1).headline == (
        "Of 4 factors, 1 matters: workload.direct; 3 differ from their first levels by no more "
        "than 3 %."
    )


def test_results_are_effects_the_largest_first():
    (workload,) = report(screening_study(), bfq=-0.2, true=0.1).workloads
    labels = [result.configuration for result in workload.results]
    assert labels[:3] == ["first levels", "scheduler=bfq", "direct=true"]
    values = {result.configuration: result.value for result in workload.results}
    assert values["scheduler=bfq"] == pytest.approx(0.8 * (values["first levels"] or 0), rel=0.02)


def test_no_configuration_is_ranked():
    assert report(screening_study(workloads=factory.WORKLOADS), bfq=-0.2).ranking is None


def test_the_predicted_best_can_be_confirmed_by_what_is_printed():
    study = screening_study()
    screening = report(study, **{"true": 0.2, "no, atime": 0.1}).screening
    assert screening is not None and screening.predicted is not None
    best = screening.predicted
    assert best.levels == {"mount.atime": "no, atime", "workload.direct": "true"}
    assert best.changes["file-writes"] == pytest.approx(1.2 * 1.1 - 1, abs=0.02)
    text = """\
question: Which?
target: {loopback: {size: 1GiB}}
factors:
  block.scheduler: [none, bfq]
  mount.atime: {relatime: relatime, "no, atime": noatime}
  workload.direct: [false, true]
  block.nr_requests: [as-found, 64]
  sysctl.fs.file-max: [as-found, 64000]
workloads: [{io: {label: file-writes, operation: write}}]
"""
    confirming = parse(text + best.confirm, where="study.yaml", name="study")
    assert [c.label for c in confirming.configurations()] == ["first levels", "predicted best"]
    assert confirming.configurations()[1].settings["mount.atime"] == "noatime"
    assert confirming.configurations()[1].options == {"direct": "true"}


def test_a_level_that_is_worse_somewhere_is_not_predicted_best():
    study = screening_study(workloads=factory.WORKLOADS)
    effects = {
        (workload, run.label): (0.2 if workload == "file-writes" else -0.2) * ("=bfq" in run.label)
        for workload in factory.WORKLOADS
        for run in study.configurations()
    }
    rows = factory.rows(study, effects=effects, blocks=20)
    example = build_report(study, factory.study_row(study), rows)
    screening = example.screening
    assert screening is not None and screening.predicted is None
    assert "is worse on another" in section(example).notes[-1]
    first = "Keep the first levels: no other level was shown to meet the goal."
    assert example.next_steps[0].text == first
    assert screening.answer.startswith("Of 5 factors, 1 matters: block.scheduler")


def test_every_format_has_the_effects_and_the_confirming_study():
    example = report(screening_study(), true=0.2)
    assert registry.build_summary_sections(example)[0].name == "screening"
    text = markdown.render(example)
    assert "Factor effects" in text
    assert "predicted best" in text


def test_without_fold_over_aliases_are_named():
    example = report(screening_study(ScreeningDesign(DesignKind.PLACKETT_BURMAN, fold_over=False)))
    shown = section(example)
    assert example.screening is not None
    assert len(example.screening.aliases) == 5
    (table,) = (table for table in shown.folded if table.title == "aliases")
    assert all(" with " in row[1] for row in table.rows)
    assert any("effects are aliased with two-factor interactions" in text for text in shown.notes)


def test_full_design_estimates_interactions():
    screening = report(screening_study(ScreeningDesign(DesignKind.FULL)), blocks=8).screening
    assert screening is not None
    assert len(screening.interactions) == 10
    assert not screening.aliases


def test_effects_found_only_by_holm_are_marked():
    screening = report(screening_study()).screening
    assert screening is not None
    by_holm = screening.effects[0].model_copy(update={"by_holm": True})
    marked = report(screening_study()).model_copy(
        update={"screening": screening.model_copy(update={"effects": (by_holm,)})}
    )
    shown = section(marked)
    assert shown.tables[0].rows[0][3] == f"{by_holm.verdict.value} (by Holm)"


def test_screening_without_blocks_has_no_sentence():
    example = report(screening_study(), blocks=0)
    assert example.headline == "Of 5 factors, none is shown to matter; 5 are inconclusive."
    shown = section(example)
    assert {row[3] for row in shown.tables[0].rows} == {"no data"}


def test_all_levels_of_a_factor_together_have_an_f_test_where_they_are_several():
    factors = (factory.factor("block.scheduler", "none", "kyber", "bfq"), *FACTORS[1:4])
    study = replace(
        factory.study(*factors, workloads=("file-writes",)),
        design=ScreeningDesign(DesignKind.SUBSET, reduction=2),
    )
    screening = report(study, blocks=8, bfq=-0.2).screening
    assert screening is not None
    (test,) = screening.omnibus
    assert (test.factor, test.degrees, test.error_degrees) == ("block.scheduler", 2, 7 * 11)
    assert test.p < 1e-6
    assert [effect.level for effect in screening.effects[:2]] == [
        "scheduler=kyber",
        "scheduler=bfq",
    ]


def test_more_configurations_than_colours_have_no_legend() -> None:
    made = report(screening_study())
    assert len(made.configurations) > len(COLOURS)
    drawn = build_run_order_chart(made.workloads[0], made)
    assert drawn is not None
    assert read_legend(drawn.spec) == ()
