"""The ``design`` section: which runs it makes, and what it cannot be made of."""

from __future__ import annotations

import pytest

from iostudy_search.screening.design import DesignKind, ScreeningDesign
from tests.study.files import GOOD, problems, read

FACTORS = """\
  block.scheduler: [none, bfq]
  block.read_ahead_kb: {usual: 128, large: 4096}
  workload.direct: [false, true]
  workload.record_size: [1MiB, 64KiB]
  mount.atime: [relatime, noatime]
"""
FIVE = GOOD.replace("  block.scheduler: [none, bfq]\n", FACTORS)
DISK = FIVE.replace("/data/scratch", "{loopback: {size: 1GiB}}")


@pytest.mark.parametrize(
    ("section", "design", "runs"),
    [
        ("plackett-burman", ScreeningDesign(DesignKind.PLACKETT_BURMAN), 16),
        (
            "{kind: plackett-burman, fold_over: false}",
            ScreeningDesign(DesignKind.PLACKETT_BURMAN, fold_over=False),
            8,
        ),
        ("full", ScreeningDesign(DesignKind.FULL), 32),
        ("fractional", ScreeningDesign(DesignKind.FRACTIONAL), 16),
        (
            "{kind: fractional, resolution: 3}",
            ScreeningDesign(DesignKind.FRACTIONAL, resolution=3),
            8,
        ),
        ("{kind: subset, reduction: 2}", ScreeningDesign(DesignKind.SUBSET), 16),
    ],
)
def test_a_design_makes_the_configurations(section: str, design: ScreeningDesign, runs: int):
    study = read(FIVE + f"design: {section}\n")
    assert study.design == design
    assert len(study.configurations()) == runs
    assert len({c.label for c in study.configurations()}) == runs
    assert study.comparisons == 5 * 2


def test_the_first_run_has_all_first_levels():
    first = read(FIVE + "design: plackett-burman\n").baseline
    assert first.label == (
        "scheduler=none, read_ahead_kb=usual, direct=false, record_size=1MiB, atime=relatime"
    )
    assert first.settings == {
        "block.scheduler": "none",
        "block.read_ahead_kb": "128",
        "mount.atime": "relatime",
    }


def test_every_level_of_several_is_a_comparison_but_for_the_first():
    text = FIVE.replace("[none, bfq]", "[none, kyber, bfq]").replace("{usual", "{small: 64, usual")
    study = read(text + "design: {kind: subset, reduction: 2}\n")
    assert study.comparisons == (2 + 2 + 1 + 1 + 1) * 2
    assert {c.settings["block.scheduler"] for c in study.configurations()} == {
        "none",
        "kyber",
        "bfq",
    }


def test_a_factor_of_one_level_is_the_same_in_all_runs():
    study = read(FIVE.replace("[none, bfq]", "[bfq]") + "design: plackett-burman\n")
    assert {c.settings["block.scheduler"] for c in study.configurations()} == {"bfq"}
    assert not any("scheduler" in c.label for c in study.configurations())
    assert study.comparisons == 4 * 2


def test_a_tunable_may_be_screened_under_the_one_scheduler_that_has_it():
    text = FIVE.replace("[none, bfq]", "[bfq]").replace(
        "mount.atime: [relatime, noatime]", "block.bfq.slice_idle: [8, 0]"
    )
    assert read(text + "design: plackett-burman\n").comparisons == 4 * 2


def test_hard_to_change_factors_make_whole_plots():
    text = DISK.replace("mount.atime: [relatime, noatime]", "filesystem.type: [ext4, xfs]")
    study = read(text.replace("1GiB", "2GiB") + "design: plackett-burman\n")
    plots = [c.whole_plot for c in study.configurations()]
    assert {plot: plots.count(plot) for plot in plots} == {
        "filesystem.type=ext4": 8,
        "filesystem.type=xfs": 8,
    }


@pytest.mark.parametrize(
    ("old", "new", "section", "line", "words"),
    [
        ("", "", "placket-burman", 13, ["unknown design", "did you mean plackett-burman"]),
        ("", "", "{fold_over: true}", 13, ["design.kind: it is missing"]),
        ("", "", "{kind: full, fold_over: true}", 13, ["unknown key of full"]),
        ("", "", "{kind: plackett-burman, fold_over: 1}", 13, ["true or false"]),
        ("", "", "{kind: fractional, resolution: 2}", 13, ["whole number from 3 to 5", "found 2"]),
        ("", "", "{kind: subset, reduction: 1}", 13, ["whole number from 2 to 100"]),
        ("", "", "{kind: subset, reduction: 90}", 13, ["no such design", "choose another"]),
        ("[none, bfq]", "[none, kyber, bfq]", "plackett-burman", 4, ["two levels", "kind: subset"]),
        ("[none, bfq]", "offered", "full", 4, ["levels that the file lists"]),
        (
            "mount.atime: [relatime, noatime]",
            "block.bfq.slice_idle: [8, 0]",
            "full",
            8,
            ["only there while block.scheduler is bfq", "block.scheduler one level"],
        ),
        (FACTORS, "  block.scheduler: [none, bfq]\n", "full", 3, ["2 or more", "found 1"]),
        (
            FACTORS,
            "  block.scheduler: [none, bfq]\n  workload.direct: [false, true]\n",
            "fractional",
            3,
            ["3 or more", "found 2"],
        ),
        (
            "{usual: 128, large: 4096}",
            f"{[4 * n for n in range(1, 200)]}",
            "full",
            13,
            ["too many runs", "found 3184", "up to 1000"],
        ),
    ],
)
def test_impossible_designs_are_refused(
    old: str, new: str, section: str, line: int, words: list[str]
):
    (problem,) = problems(FIVE.replace(old, new) + f"design: {section}\n")
    message = str(problem)
    at = line if old != FACTORS else 3
    assert all(word in message for word in words), message
    assert problem.line == at


def test_a_design_excludes_the_sections_that_it_settles():
    more = "configurations: {a: {}}\nbaseline: a\nrefused: strict\n"
    found = problems(FIVE + "design: full\n" + more)
    assert [(problem.line, problem.path) for problem in found] == [
        (14, "configurations"),
        (15, "baseline"),
        (16, "refused"),
    ]


def test_without_root_the_design_is_of_the_other_factors():
    fallback = """\
without_root:
  target: .
  factors:
    workload.direct: [false, true]
    workload.record_size: [1MiB, 64KiB]
    workload.files: [2, 4]
design: {kind: plackett-burman, fold_over: false}
"""
    study = read(FIVE + fallback).without_root()
    assert len(study.configurations()) == 4
    (problem,) = problems(FIVE + fallback.replace("    workload.files: [2, 4]\n", ""))
    assert problem.path == "without_root.factors"
