"""Text about the parameters, the rounds and the budget of a search."""

from __future__ import annotations

from typing import assert_never

from iostudy.cli.mode_text import Lines, ModeText, format_expected_time, format_range
from iostudy.report.formatting import format_count
from iostudy.settings import catalog
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.model import Study
from iostudy.units import format_percent, format_size
from iostudy_search.candidates import format_point
from iostudy_search.optimizer.space import Choices, Parameter, Range
from iostudy_search.search import SLOTS, Search, TimeBudget, TrialBudget, require_search

_MAX_COUNTED_POINTS = 1_000_000
"""Larger spaces are reported as larger than this."""


def _describe_space(study: Study) -> Lines:
    """Describe every parameter with domain and default, the points tried first, and the bound."""
    search = require_search(study)
    searched = {parameter.name: parameter for parameter in search.space.parameters}
    worst = "" if search.worst is None else format_percent(search.worst)
    return [
        *((f.name, _describe_factor(study, f, searched.get(f.name))) for f in study.factors),
        ("space", f"{_describe_size(search)}, {_describe_default(search)}"),
        *(
            ("tried first", f"{label}: {', '.join(f'{k}={v}' for k, v in values.items())}")
            for label, values in ((n, format_point(study, p)) for n, p in search.tries.items())
        ),
        *([("worst", f"no workload may lose more than {worst}")] if worst else []),
    ]


def _describe_search(study: Study) -> Lines:
    """Describe trials and time of the search, and of the confirmation after it."""
    search, workloads, decide = require_search(study), len(study.workloads), study.decide
    blocks = decide.min_blocks, decide.max_blocks
    round_ = f"a round is a trial of the default and of up to {SLOTS} candidates on each workload"
    # Assumes that the winner takes as long as the default.
    numbers = format_range(str(2 * number * workloads) for number in blocks)
    confirmed = format_expected_time(study, [2 * number for number in blocks])
    return [
        ("budget", f"{search.budget}, valid ones only; {round_}"),
        ("time", _describe_search_time(study)),
        (
            "confirmation",
            f"{numbers} trials of default and winner in fresh blocks, if a candidate leads",
        ),
        ("its time", confirmed),
    ]


def _describe_default(search: Search) -> str:
    return "and the default" if search.default is None else "the default among them"


def _describe_factor(study: Study, factor: Factor, parameter: Parameter | None) -> str:
    default = factor.levels[0].label
    if parameter is None:
        return f"{default}, fixed"
    return f"{_describe_domain(study, parameter, _unit(factor))}; default {default}"


def _describe_domain(study: Study, parameter: Parameter, unit: str) -> str:
    match parameter.domain:
        case Choices(names):
            return ", ".join(names)
        case Range() as range_:
            low, high = (
                format_point(study, {parameter.name: range_.text(multiple)})[parameter.name]
                for multiple in (range_.first, range_.last)
            )
            ends = f"{low} to {high} {unit}".strip()
            is_size = low != range_.text(range_.first)
            step = format_size(int(range_.step)) if is_size else f"{range_.step:g}"
            steps = f" in steps of {step}" if range_.step != 1 else ""
            return ends + steps + (", on a logarithmic scale" if range_.log else "")
        case unreachable:
            assert_never(unreachable)


def _unit(factor: Factor) -> str:
    return catalog.get(factor.name).unit if factor.kind is FactorKind.SETTING else ""


def _describe_size(search: Search) -> str:
    size = search.space.size
    return (
        f"{size} points"
        if size <= _MAX_COUNTED_POINTS
        else f"more than {_MAX_COUNTED_POINTS} points"
    )


def _describe_search_time(study: Study) -> str:
    """Describe the time of the search without its confirmation."""
    search = require_search(study)
    match search.budget:
        case TrialBudget(trials):
            return format_expected_time(study, [trials / len(study.workloads)])
        case TimeBudget():
            return f"{search.budget}, and the time between them"
        case unreachable:
            assert_never(unreachable)


def _describe_budget(study: Study) -> str:
    budget = require_search(study).budget
    return f"{budget} and a confirmation: {_describe_search_time(study)}"


def _describe_parameters(study: Study) -> str:
    search = require_search(study)
    parameters = format_count(len(search.space.parameters), "parameter")
    workloads = format_count(len(study.workloads), "workload")
    return f"a search of {parameters} for {search.budget}, {workloads}"


TEXT = ModeText(_describe_space, _describe_search, _describe_budget, _describe_parameters)
