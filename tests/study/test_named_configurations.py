"""A study that names its configurations runs these and no others."""

from __future__ import annotations

import pytest

from tests.study.files import GOOD, problems, read

STUDY = GOOD.replace(
    "  block.scheduler: [none, bfq]\n",
    """\
  block.scheduler: [none, bfq]
  block.bfq.slice_idle: [8, 0]
  workload.direct: {buffered: false, direct: true}
configurations:
  before: {}
  bfq: {block.scheduler: bfq}
  all: {block.scheduler: bfq, block.bfq.slice_idle: 0, workload.direct: direct}
""",
)


def test_an_omitted_factor_has_its_first_level():
    study = read(STUDY)
    assert [(c.label, dict(c.settings), dict(c.options)) for c in study.configurations()] == [
        ("before", {"block.scheduler": "none"}, {"direct": "false"}),
        ("bfq", {"block.scheduler": "bfq", "block.bfq.slice_idle": "8"}, {"direct": "false"}),
        ("all", {"block.scheduler": "bfq", "block.bfq.slice_idle": "0"}, {"direct": "true"}),
    ]
    assert study.comparisons == 4


def test_bounds_are_no_choices():
    study = read(STUDY + "bounds: [all]\n")
    assert study.bounds == ("all",)
    assert len(study.choices()) == len(study.configurations()) - 1
    assert all(choice.label != "all" for choice in study.choices())


def test_an_invalid_bound_is_refused():
    baseline = read(STUDY).baseline.label
    for label in ("al", baseline):
        (problem,) = problems(STUDY + f"bounds: [{label}]\n")
        assert "configuration other than the baseline" in str(problem)
    (problem,) = problems(STUDY + "bounds: all\n")
    assert "a list is wanted here, such as [no journal]" in str(problem)


def test_a_baseline_can_be_named():
    assert read(STUDY + "baseline: all\n").baseline.label == "all"
    (problem,) = problems(STUDY + "baseline: al\n")
    assert (problem.line, problem.suggestion) == (15, "all")


def test_many_levels_are_no_trouble_where_few_are_chosen():
    sizes = [4 * n for n in range(1, 1200)]
    text = STUDY.replace("[8, 0]", f"[8, 0]\n  block.read_ahead_kb: {sizes}")
    assert len(read(text).configurations()) == 3


def test_only_chosen_options_have_to_go_together():
    text = STUDY.replace("[8, 0]", "[8, 0]\n  workload.record_size: [1MiB, 1000]")
    assert read(text)
    text = text.replace(
        "workload.direct: direct}", "workload.direct: direct, workload.record_size: 1000}"
    )
    found = problems(text)
    assert "multiples of 4096" in found[0].message


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("block.scheduler: bfq}", "block.sheduler: bfq}", 9, ["factor", "mean block.scheduler"]),
        ("block.scheduler: bfq}", "block.scheduler: bqf}", 9, ["found bqf", "mean bfq"]),
        ("direct: direct}", "direct: true}", 10, ["found true", "allowed: buffered, direct"]),
        ("before: {}", "before: {block.bfq.slice_idle: 0}", 8, ["while block.scheduler is bfq"]),
        ("before: {}", "before:", 8, ["{} has all first levels", "found nothing"]),
        ("before: {}", "before: none", 8, ["mapping", "found none"]),
        ("before: {}", '"\\e[31m": {}', 8, ["a label is one line"]),
        ("before: {}", "before: {block.scheduler: none}\n  same: {}", 9, ["same levels as before"]),
        ("before: {}", "1: {}\n  '1': {workload.direct: direct}", 7, ["label occurs twice"]),
        ("[8, 0]", "[8, x]", 5, ["level x: not a whole number"]),
    ],
)
def test_an_error_is_reported_at_its_line(old, new, line, words):
    assert old in STUDY
    (problem,) = problems(STUDY.replace(old, new, 1))
    assert problem.line == line
    for word in words:
        assert word in str(problem)


@pytest.mark.parametrize("section", ["{}", "[]", "all", ""])
def test_a_section_without_configurations_is_refused(section):
    (problem,) = problems(GOOD + f"configurations: {section}\n")
    assert (problem.line, problem.path) == (9, "configurations")


def test_levels_that_the_host_has_yet_to_offer_cannot_be_chosen():
    (problem,) = problems(STUDY.replace("[none, bfq]", "offered"))
    assert "levels that the file lists" in problem.message
    assert problem.found == "block.scheduler: offered"


def test_without_root_the_other_factors_make_every_combination():
    text = STUDY + "without_root:\n  factors:\n    workload.direct: [true, false]\n"
    assert [c.label for c in read(text).without_root().configurations()] == ["true", "false"]


def test_a_level_with_two_labels_is_compared_with_itself():
    text = GOOD.replace("[none, bfq]", "{a: none, b: none}") + (
        "configurations: {first: {block.scheduler: a}, second: {block.scheduler: b}}\n"
    )
    settings = [dict(c.settings) for c in read(text).configurations()]
    assert settings == [{"block.scheduler": "none"}] * 2
