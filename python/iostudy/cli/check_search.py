"""What ``check`` tells of a search: the space, the budget, and the confirmation."""

from __future__ import annotations

from typing import assert_never

from iostudy.analysis.search.space import Choices, Parameter, Range
from iostudy.cli.expected_time import expected_time, span
from iostudy.settings import catalog
from iostudy.study.candidates import written
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.model import Study
from iostudy.study.search import SLOTS, Search, TimeBudget, TrialBudget
from iostudy.units import format_percent, format_size

_MANY = 1_000_000
"""More points than these are not counted out."""


def what(study: Study, search: Search) -> list[tuple[str, str]]:
    """Every parameter with its domain and its default, the known points, and what limits all."""
    searched = {parameter.name: parameter for parameter in search.space.parameters}
    worst = "" if search.worst is None else format_percent(search.worst)
    return [
        *((f.name, _told(study, f, searched.get(f.name))) for f in study.factors),
        ("space", f"{_size(search)}, {_default(search)}"),
        *(
            ("tried first", f"{label}: {', '.join(f'{k}={v}' for k, v in values.items())}")
            for label, values in ((n, written(study, p)) for n, p in search.tries.items())
        ),
        *([("worst", f"no workload may lose more than {worst}")] if worst else []),
    ]


def effort(study: Study, search: Search) -> list[tuple[str, str]]:
    """Trials and time of the search, and of the confirmation that follows if one is ahead."""
    workloads, decide = len(study.workloads), study.decide
    blocks = decide.min_blocks, decide.max_blocks
    round_ = f"a round is a trial of the default and of up to {SLOTS} candidates on each workload"
    # The winner takes as long as the default, as far as anybody can tell before.
    numbers = span(str(2 * number * workloads) for number in blocks)
    confirmed = expected_time(study, [2 * number for number in blocks])
    return [
        ("budget", f"{search.budget}, of those that count; {round_}"),
        ("time", _time(study, search)),
        (
            "confirmation",
            f"{numbers} trials of default and winner in fresh blocks, if one is ahead",
        ),
        ("its time", confirmed),
    ]


def _default(search: Search) -> str:
    return "and the default" if search.default is None else "the default among them"


def _told(study: Study, factor: Factor, parameter: Parameter | None) -> str:
    default = factor.levels[0].label
    if parameter is None:
        return f"{default}, held in all"
    return f"{_domain(study, parameter, _unit(factor))}; default {default}"


def _domain(study: Study, parameter: Parameter, unit: str) -> str:
    match parameter.domain:
        case Choices(names):
            return ", ".join(names)
        case Range() as range_:
            low, high = (
                written(study, {parameter.name: range_.text(multiple)})[parameter.name]
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


def _size(search: Search) -> str:
    size = search.space.size
    return f"{size} points" if size <= _MANY else f"more than {_MANY} points"


def _time(study: Study, search: Search) -> str:
    match search.budget:
        case TrialBudget(trials):
            return expected_time(study, [trials / len(study.workloads)])
        case TimeBudget():
            return f"{search.budget}, and what lies between them"
        case unreachable:
            assert_never(unreachable)
