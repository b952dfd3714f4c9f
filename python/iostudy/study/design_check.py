"""Checks of a screening design against the factors of its study."""

from __future__ import annotations

import math

from iostudy.study.combinations import Factor
from iostudy.study.design import KEY_PATH, Design, varied
from iostudy.study.model import Study
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.source import format_value
from iostudy.study.study_file import LEAVE_OUT, StudyFile


def check_other_keys(collector: ProblemCollector, file: StudyFile) -> None:
    """Note the keys that do not go together with a design."""
    if "design" not in file.model_fields_set:
        return
    for key in ("configurations", "baseline", "bounds"):
        if key in file.model_fields_set:
            message = "a design chooses the runs, and compares the levels of each factor"
            found = format_value(collector.source.values[key])
            collector.add((key,), f"{message}; leave this out, or `design`", found)
    if file.refused == LEAVE_OUT:
        message = (
            "a design needs all of its runs; leave this out, and out of factors what is refused"
        )
        collector.add(("refused",), message, LEAVE_OUT)


def check_design(collector: ProblemCollector, path: KeyPath, study: Study, most_runs: int) -> bool:
    """Whether the study has no design, or one that its factors make; else it is noted why not."""
    design = study.design
    if design is None:
        return True
    before = len(collector.problems)
    for factor in study.factors:
        _check_factor(collector, (*path, factor.name), factor, study)
    _check_number(collector, path, study, design)
    if len(collector.problems) == before:
        _check_runs(collector, study, design, most_runs)
    return len(collector.problems) == before


def _check_factor(collector: ProblemCollector, path: KeyPath, factor: Factor, study: Study) -> None:
    assert study.design is not None
    kind, number = study.design.kind, len(factor.levels)
    if factor.offered:
        collector.add(path, "a design needs levels that the file lists; list them", "offered")
    governing = {other.name for other in varied(study.factors)}
    if factor.condition is not None and factor.condition.name in governing:
        message = (
            f"it is only there while {factor.condition}, so not with every level; give "
            f"{factor.condition.name} one level, or leave `design` out"
        )
        collector.add(path, message)
    if kind.takes_two_levels and number > 2:
        message = (
            f"{kind} takes two levels of each factor; leave some out, or write "
            "design: {kind: subset, reduction: 2}"
        )
        collector.add(path, message, found=f"{number} levels")


def _check_number(collector: ProblemCollector, path: KeyPath, study: Study, design: Design) -> None:
    number = len([factor for factor in study.factors if factor.offered or len(factor.levels) > 1])
    fewest = design.kind.fewest_factors
    if number < fewest:
        message = f"{design.kind} takes factors with several levels, {fewest} or more of them"
        collector.add(path, f"{message}; leave `design` out to compare configurations", str(number))


def _check_runs(collector: ProblemCollector, study: Study, design: Design, most: int) -> None:
    # Here and not above: numpy takes long to load, and studies without a design need none of it.
    from iostudy.analysis.design import main_effects

    levels = [len(factor.levels) for factor in varied(study.factors)]
    number = design.at_least(math.prod(levels))
    if number <= most:
        try:
            runs = design.runs(study.factors)
            main_effects(runs, levels)
        except ValueError as error:
            message = f"no such design can be made of these factors ({error}); choose another one"
            collector.add(KEY_PATH, message, found=design.describe())
            return
        number = len(runs)
    if number > most:
        message = "the design has too many runs; leave out factors or levels, or choose another one"
        collector.add(KEY_PATH, message, found=str(number), allowed=f"up to {most}")
