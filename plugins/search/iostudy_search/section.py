"""The ``search`` section: parameters with their domains, budget, known points."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, assert_never

from pydantic import Field

from iostudy import units
from iostudy.settings import catalog
from iostudy.settings.values import AS_FOUND, Integer
from iostudy.study.combinations import Factor, FactorKind, Level
from iostudy.study.factors import canonical_value, parse_factor
from iostudy.study.fields import SCALAR, Entries, OpenSection, from_catalog, share
from iostudy.study.json_schema import Schema, build_by_name, build_object, build_reference
from iostudy.study.model import WorkloadRequest
from iostudy.study.names import UnknownNameError, parse_label, scalar_text
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.source import format_value
from iostudy.study.study_file import NAMED_VALUES, DesignKey
from iostudy_search.optimizer.space import (
    Choices,
    Domain,
    Parameter,
    ParameterCondition,
    Point,
    Range,
    SearchSpace,
)
from iostudy_search.search import (
    CONFLICTING_KEYS,
    DEFAULT,
    Budget,
    BudgetValue,
    Search,
    TrialBudget,
)

_FROM, _TO, _SCALE, _STEP, _ON = _RANGE_KEYS = ("from", "to", "scale", "step", "on")
_LINEAR, _LOG = SCALES = ("linear", "log")
_PAGE = 4096
"""Bytes; direct I/O takes multiples of it."""
_OWN_LABELS = re.compile(r"candidate \d+")
Worst = Annotated[float, share("0% or more, and less than 100%", lambda s: 0 <= s < 1)]


class SearchSection(OpenSection):
    """In the place of factors: ranges to search for the best values."""

    parameters: Annotated[Entries, from_catalog("parameters")] = Field(
        examples=[{"block.nr_requests": {"from": 32, "to": 1024}}]
    )
    """The settings and workload options to search, each with a range or a list of values."""
    budget: BudgetValue
    """120 trials, or the time of trials, such as 2h."""
    tries: Annotated[dict[Any, Any], NAMED_VALUES] = Field(
        {}, alias="try", examples=[{"known": {"block.nr_requests": 64}}]
    )
    """Points that are known to be good, by labels."""
    worst: Worst | None = None
    """What a candidate may lose on any workload, such as 5%."""


@dataclass(frozen=True)
class _Searched:
    """A parameter as a factor whose first level is the default; without a domain it is held."""

    factor: Factor
    domain: Domain | None


def _define_parameters(levels: Mapping[str, Schema]) -> Mapping[str, Schema]:
    """Return the JSON Schema of parameters by name: a range, or what a factor may be."""
    ends = {"from": SCALAR, "to": SCALAR}
    more: dict[str, Schema] = {"scale": {"enum": list(SCALES)}, "step": SCALAR}
    range_ = build_object({**ends, **more, "on": build_reference("places")}, required=tuple(ends))
    parameters = build_by_name(levels, lambda f: {"anyOf": [build_reference("range"), f]})
    return {"range": range_, "parameters": parameters}


def parse_search(
    collector: ProblemCollector,
    path: KeyPath,
    section: SearchSection,
    requests: Sequence[WorkloadRequest],
) -> tuple[tuple[Factor, ...], Search | None]:
    """What varies, as factors with the default and the ends or names of its domain, and the search.

    What is wrong is noted; None instead of a Search that cannot be made.
    """
    parameters = _parameters(collector, (*path, "parameters"), section.parameters or {}, requests)
    _check_budget(collector, (*path, "budget"), section.budget, 2 * max(1, len(requests)))
    factors = tuple(parameter.factor for parameter in parameters)
    if not parameters or len(parameters) < len(section.parameters):
        return factors, None
    space = _space(collector, (*path, "parameters"), parameters)
    if space is None:
        return factors, None
    points = _Points(space, requests)
    default = points.default(factors)
    tries = _tries(collector, (*path, "try"), section.tries or {}, points, default)
    return factors, Search(space, section.budget, tries, default, section.worst)


def _parameters(
    collector: ProblemCollector,
    path: KeyPath,
    section: Mapping[Any, Any],
    requests: Sequence[WorkloadRequest],
) -> tuple[_Searched, ...]:
    parsed = [
        collector.attempt((*path, name), partial(_parameter, str(name), requests=requests), given)
        for name, given in section.items()
    ]
    return tuple(parameter for parameter in parsed if parameter is not None)


def _parameter(name: str, given: Any, requests: Sequence[WorkloadRequest]) -> _Searched:
    """One line of the section; ValueError says what is wrong with it."""
    if isinstance(given, Mapping) and (_FROM in given or _TO in given):
        searched = _range(name, given, requests)
    elif isinstance(given, list) or (isinstance(given, Mapping) and "levels" in given):
        searched = _choices(name, given, requests)
    else:
        raise ValueError("a parameter is {from: ..., to: ...}, or a list of the values it can have")
    if searched.factor.hard_to_change:
        raise ValueError("a search stays on one file system; compare several as factors of a study")
    if searched.domain is None:
        return searched
    default = _default(searched.factor, requests)
    others = tuple(level for level in searched.factor.levels if level != default)
    return replace(searched, factor=replace(searched.factor, levels=(default, *others)))


def _choices(name: str, given: Any, requests: Sequence[WorkloadRequest]) -> _Searched:
    """A list of one is held: the default has it, too."""
    factor = parse_factor(name, given, _models(requests))
    if factor.offered:
        raise ValueError("list the values to search; what the host refuses is left out")
    values = tuple(level.value for level in factor.levels)
    return _Searched(factor, Choices(values) if len(values) > 1 else None)


def _range(name: str, given: Mapping[str, Any], requests: Sequence[WorkloadRequest]) -> _Searched:
    for key in given:
        if key not in _RANGE_KEYS:
            raise UnknownNameError("key", str(key), _RANGE_KEYS)
    for key in (_FROM, _TO):
        if key not in given:
            raise ValueError(f"a range has a lowest and a highest value: {key} is missing")
    scale = given.get(_SCALE, _LINEAR)
    if scale not in SCALES:
        raise UnknownNameError("scale", format_value(scale), SCALES)
    places = {_ON: given[_ON]} if _ON in given else {}
    ends = {"levels": {key: given[key] for key in (_FROM, _TO)}, **places}
    factor = parse_factor(name, ends, _models(requests))
    factor = replace(factor, levels=tuple(Level(end.value, end.value) for end in factor.levels))
    if len({end.value for end in factor.levels}) < len(factor.levels):
        raise ValueError("both ends are the same; a list of that one value holds it")
    low, high = (_number(level.value) for level in factor.levels)
    if low > high:
        raise ValueError(f"from {given[_FROM]} is more than to {given[_TO]}")
    step = _number(scalar_text(given[_STEP])) if _STEP in given else _step(factor, low, high)
    domain = Range(low, high, log=scale == _LOG, step=step)
    _check_multiples(factor, domain, requests)
    return _Searched(factor, domain)


def _check_multiples(factor: Factor, domain: Range, requests: Sequence[WorkloadRequest]) -> None:
    """The first two and the last stand for all: whole numbers are allowed in steps, if at all."""
    multiples = {domain.first, min(domain.first + 1, domain.last), domain.last}
    texts = {domain.text(multiple) for multiple in multiples}
    if len(texts) < len(multiples):
        raise ValueError("values one step apart are the same number; choose another step")
    for text in texts:
        try:
            canonical_value(factor.name, text, _models(requests))
        except ValueError as error:
            raise ValueError(f"{text} is in the range: {error}; choose another step") from error


def _step(factor: Factor, low: float, high: float) -> float:
    """The setting's own; whole pages where both ends of a range of sizes are some; else 1."""
    if factor.kind is FactorKind.SETTING:
        values = catalog.get(factor.name).values
        if isinstance(values, Integer):
            return values.step
    sizes = not any(_is_number(level.value) for level in factor.levels)
    return _PAGE if sizes and low % _PAGE == high % _PAGE == 0 else 1


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float:
    """A number, or the bytes of a size."""
    if _is_number(text):
        return float(text)
    try:
        return units.parse_size(text)
    except ValueError:
        message = f"a range is of numbers or sizes, and {text} is neither; list the values instead"
        raise ValueError(message) from None


def _default(factor: Factor, requests: Sequence[WorkloadRequest]) -> Level:
    """Settings as the host has them; an option as all workloads that know it have it."""
    if factor.kind is FactorKind.SETTING:
        return Level(AS_FOUND, AS_FOUND)
    having = [
        request for request in requests if factor.option in type(request.options).model_fields
    ]
    values = {
        canonical_value(factor.name, scalar_text(value), _models(requests))
        for value in (request.options.model_dump(mode="json")[factor.option] for request in having)
    }
    if len(values) != 1:
        text = ", ".join(sorted(values)) or "no workload of this study has that option"
        message = "give the option the same value in every workload; that is the default"
        raise ValueError(f"{message}; found {text}" if values else text)
    return Level(*values, *values)


def _space(
    collector: ProblemCollector, path: KeyPath, parameters: Sequence[_Searched]
) -> SearchSpace | None:
    searched = [parameter for parameter in parameters if parameter.domain is not None]
    if not searched:
        collector.add(path, "all of it is held; give a parameter several values")
        return None
    domains = {parameter.factor.name: parameter.domain for parameter in searched}
    idle = [parameter.factor for parameter in searched if _never_there(parameter.factor, domains)]
    for factor in idle:
        message = f"it is only there while {factor.condition}; add that value, or leave this out"
        collector.add((*path, factor.name), message)
    if idle:
        return None
    in_order = sorted(searched, key=lambda parameter: parameter.factor.condition is not None)
    return SearchSpace(tuple(_in_space(parameter, domains) for parameter in in_order))


def _never_there(factor: Factor, domains: Mapping[str, Domain | None]) -> bool:
    governing = domains.get(factor.condition.name) if factor.condition else None
    return governing is not None and not _met(factor, governing)


def _met(factor: Factor, governing: Domain) -> tuple[str, ...]:
    """The values of another parameter under which a factor is active."""
    names = governing.names if isinstance(governing, Choices) else ()
    return tuple(name for name in names if factor.condition and factor.condition.holds(name))


def _in_space(searched: _Searched, domains: Mapping[str, Domain | None]) -> Parameter:
    """The parameter, with its condition where the search varies what that is about."""
    factor, domain = searched.factor, searched.domain
    assert domain is not None
    governing = domains.get(factor.condition.name) if factor.condition else None
    if factor.condition is None or governing is None:
        return Parameter(factor.name, domain)
    met = ParameterCondition(factor.condition.name, _met(factor, governing))
    return Parameter(factor.name, domain, met)


def _check_budget(collector: ProblemCollector, path: KeyPath, budget: Budget, least: int) -> None:
    if isinstance(budget, TrialBudget) and budget.trials < least:
        message = f"too small: the default and one candidate on every workload are {least} trials"
        collector.add(path, message, found=str(budget))


@dataclass(frozen=True)
class _Points:
    """What a point is made of, and how its values are written."""

    space: SearchSpace
    requests: Sequence[WorkloadRequest]

    def parse(self, given: Any) -> Point:
        """A known point; ValueError says what is wrong with it."""
        if not isinstance(given, Mapping):
            raise ValueError("a known point is a mapping such as {parameter: value}")
        parameters = {parameter.name: parameter for parameter in self.space.parameters}
        for name in given:
            if name not in parameters:
                raise UnknownNameError("parameter that is searched", str(name), parameters)
        point = {n: self._value(parameters[n], given[n]) for n in parameters if n in given}
        active = [parameter.name for parameter in self.space.active(point)]
        missing = [name for name in active if name not in point]
        if missing:
            raise ValueError(
                f"a known point gives every parameter; {', '.join(missing)} is missing"
            )
        idle = [name for name in point if name not in active]
        if idle:
            raise ValueError(f"{', '.join(idle)} does not exist with the other values")
        return point

    def default(self, factors: Sequence[Factor]) -> Point | None:
        """Where the default lies; None where that is no point of the space."""
        levels = {factor.name: factor.levels[0].value for factor in factors}
        names = [parameter.name for parameter in self.space.active(levels)]
        try:
            return self.parse({name: levels[name] for name in names})
        except ValueError:
            return None

    def _value(self, parameter: Parameter, given: Any) -> str:
        value = canonical_value(parameter.name, scalar_text(given), _models(self.requests))
        match parameter.domain:
            case Choices(names):
                if value not in names:
                    raise UnknownNameError(f"value of {parameter.name}", value, names)
                return value
            case Range() as domain:
                text = domain.text(domain.multiple(format(_number(value), "f")))
                if float(text) != _number(value) or not domain.low <= float(text) <= domain.high:
                    raise ValueError(f"{given} is no value of {parameter.name}'s range")
                return text
            case unreachable:
                assert_never(unreachable)


def _tries(
    collector: ProblemCollector,
    path: KeyPath,
    section: Mapping[Any, Any],
    points: _Points,
    default: Point | None,
) -> Mapping[str, Point]:
    tried: dict[str, Point] = {}
    taken = {DEFAULT: default}
    for key, given in section.items():
        label = collector.attempt((*path, key), _label, key)
        point = collector.attempt((*path, key), points.parse, given)
        if label is None or point is None:
            continue
        same = next((name for name, other in {**taken, **tried}.items() if other == point), None)
        if same is not None:
            collector.add((*path, key), f"the same values as {same}; leave one of them out")
        tried[label] = point
    return tried


def _label(value: Any) -> str:
    label = parse_label(value)
    if label == DEFAULT or _OWN_LABELS.fullmatch(label):
        raise ValueError("the search calls a configuration of its own so; choose another label")
    return label


def _models(requests: Sequence[WorkloadRequest]) -> list[type]:
    return [type(request.options) for request in requests]


KEY = DesignKey(
    SearchSection | None,
    "In the place of factors: ranges to search for the best values.",
    factors_path=Search.factors_path,
    conflicts=CONFLICTING_KEYS,
    parse=parse_search,
    define=_define_parameters,
)
