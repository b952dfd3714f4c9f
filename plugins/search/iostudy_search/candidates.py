"""Candidates of a search as configurations of its study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from iostudy.study.combinations import Factor, Level, NamedConfiguration
from iostudy.study.factors import canonical_value
from iostudy.study.model import Study
from iostudy.study.names import MAX_LENGTH, short_names
from iostudy_search.optimizer.space import Point
from iostudy_search.search import DEFAULT_ONLY, Candidate, Search, require_search


def add_candidates(study: Study, candidates: Sequence[Candidate]) -> Study:
    """The study of a search with the default and its candidates.

    What the host refuses is left out, with the reason.
    """
    values = [format_point(study, candidate.point) for candidate in candidates]
    chosen = tuple(
        NamedConfiguration(c.label, point) for c, point in zip(candidates, values, strict=True)
    )
    factors = tuple(_with_levels(f, [point.get(f.name) for point in values]) for f in study.factors)
    refused = {candidate.label: candidate.refused for candidate in candidates if candidate.refused}
    return replace(study, factors=factors, chosen=(*DEFAULT_ONLY, *chosen)).without(refused)


def format_point(study: Study, point: Point) -> dict[str, str]:
    """The values of a point as a study file would have them: ``64KiB`` and not ``65536``."""
    models = [type(request.options) for request in study.workloads]
    return {name: canonical_value(name, text, models) for name, text in point.items()}


def name_points(
    study: Study, points: Iterable[Point], earlier: Sequence[Candidate], round_: int
) -> tuple[Candidate, ...]:
    """Points as the candidates that enter in a round, after those that are known."""
    search, named = require_search(study), list(earlier)
    for point in points:
        taken = {configuration.label for configuration in named}
        label = (
            _label(search, point, format_point(study, point), taken)
            or f"candidate {len(named) + 1}"
        )
        named.append(Candidate(len(named) + 1, round_, label, point))
    return tuple(named[len(earlier) :])


def _with_levels(factor: Factor, values: Iterable[str | None]) -> Factor:
    """The default's level, or the one that is held, and the values in their order."""
    default = factor.levels[0]
    others = dict.fromkeys(v for v in values if v not in (None, default.value))
    return replace(factor, levels=(default, *(Level(v, v) for v in others if v is not None)))


def _label(search: Search, point: Point, values: Mapping[str, str], taken: set[str]) -> str:
    """What the file calls the point, else its values; empty where these are too long."""
    given = next((label for label, other in search.tries.items() if other == point), None)
    if given is not None:
        return given
    short = short_names([parameter.name for parameter in search.space.parameters])
    if len(short) == 1:
        text = next(iter(values.values()))
    else:
        text = ", ".join(f"{short[name]}={value}" for name, value in values.items())
    reserved = taken | search.tries.keys()
    return text if len(text) <= MAX_LENGTH and text not in reserved else ""
