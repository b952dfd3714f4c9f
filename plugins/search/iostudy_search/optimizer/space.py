"""Search spaces: parameters with their domains, some of them conditional.

A point gives each active parameter a value, as the text for the host. Every domain is finite, so
that no point is proposed twice and a space can be exhausted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

Point = Mapping[str, str]
"""The value of every active parameter, by name."""


@dataclass(frozen=True)
class Range:
    """All multiples of ``step`` from ``low`` to ``high``, both included where they are multiples.

    ``log``: proposals are spread evenly over the logarithm. Raises ValueError for a range that
    holds no multiple, or that is logarithmic and not above 0.
    """

    low: float
    high: float
    log: bool = False
    step: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.step < math.inf:
            raise ValueError(f"step must be a number above 0, not {self.step:g}")
        if self.first > self.last:
            raise ValueError(f"no multiple of {self.step:g} from {self.low:g} to {self.high:g}")
        if self.log and not self.low > 0:
            raise ValueError(f"a logarithmic range has to be above 0, not from {self.low:g}")

    @property
    def first(self) -> int:
        """The lowest value as a multiple of the step."""
        return math.ceil(_exact(self.low) / _exact(self.step))

    @property
    def last(self) -> int:
        """The highest value as a multiple of the step."""
        return math.floor(_exact(self.high) / _exact(self.step))

    @property
    def size(self) -> int:
        """The number of values."""
        return self.last - self.first + 1

    def text(self, multiple: int) -> str:
        """Return the value of a number of steps: ``16384``, ``0.5``."""
        return format((multiple * _exact(self.step)).normalize(), "f")

    def multiple(self, text: str) -> int:
        """Return the number of steps of a value."""
        return round(Decimal(text) / _exact(self.step))

    def values(self) -> Iterator[str]:
        """Yield every value in ascending order."""
        return (self.text(multiple) for multiple in range(self.first, self.last + 1))

    def spread(self, most: int) -> tuple[str, ...]:
        """Return at most so many values, evenly spaced, with the lowest and the highest."""
        places = [step / (most - 1) for step in range(most)]
        low, high = self._scaled(self.first), self._scaled(self.last)
        scaled = [low + place * (high - low) for place in places]
        return tuple(dict.fromkeys(self.text(self._nearest(share)) for share in scaled))

    def quantile(self, share: float) -> str:
        """Return the quantile ``share`` (0 to 1) of the range, on its scale."""
        low, high = self._scaled(self.first - 0.5), self._scaled(self.last + 0.5)
        return self.text(self._nearest(low + share * (high - low)))

    def share(self, text: str) -> float:
        """Return the position of a value on the scale: 0 for the lowest, 1 for the highest."""
        if self.size == 1:
            return 0.5
        low, high = self._scaled(self.first), self._scaled(self.last)
        return (self._scaled(self.multiple(text)) - low) / (high - low)

    def _nearest(self, scaled: float) -> int:
        """The multiple nearest to a position on the scale."""
        nearest = round(math.exp(scaled) if self.log else scaled)
        return min(max(nearest, self.first), self.last)

    def _scaled(self, multiple: float) -> float:
        return math.log(multiple) if self.log else multiple


@dataclass(frozen=True)
class Choices:
    """Unordered names. Raises ValueError for none or for duplicates."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) < len(self.names):
            raise ValueError(f"choices must be several different names, not {self.names}")

    @property
    def size(self) -> int:
        """The number of names."""
        return len(self.names)

    def values(self) -> Iterator[str]:
        """Yield every name."""
        return iter(self.names)

    def spread(self, _most: int) -> tuple[str, ...]:
        """Return every name, because names have no order."""
        return self.names

    def share(self, name: str) -> float:
        """Return the index of a name."""
        return float(self.names.index(name))

    def quantile(self, share: float) -> str:
        """Return the quantile ``share`` (0 to 1) of the names."""
        return self.names[min(int(share * self.size), self.size - 1)]


Domain = Range | Choices


@dataclass(frozen=True)
class ParameterCondition:
    """A condition: the parameter ``name`` has one of ``values``."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter with its domain and optional condition."""

    name: str
    domain: Domain
    condition: ParameterCondition | None = None

    def is_active(self, point: Point) -> bool:
        """Whether it is active, given the preceding parameters."""
        condition = self.condition
        return condition is None or point.get(condition.name) in condition.values


@dataclass(frozen=True)
class SearchSpace:
    """Parameters, each after the one of its condition.

    Raises ValueError for duplicate names, or for a condition without an earlier choice.
    """

    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        earlier: dict[str, Domain] = {}
        for parameter in self.parameters:
            if parameter.name in earlier:
                raise ValueError(f"{parameter.name} appears twice")
            if parameter.condition:
                _check(parameter.name, parameter.condition, earlier)
            earlier[parameter.name] = parameter.domain

    def active(self, point: Point) -> tuple[Parameter, ...]:
        """Return the active parameters of a point."""
        return tuple(parameter for parameter in self.parameters if parameter.is_active(point))

    def canonical(self, point: Point) -> tuple[tuple[str, str], ...]:
        """Return the canonical form of a point: its active parameters in the space's order."""
        return tuple((parameter.name, point[parameter.name]) for parameter in self.active(point))

    @property
    def size(self) -> int:
        """The number of points."""
        # Enumerates only parameters of conditions: thirty choices of two are a billion points.
        conditions = {p.condition.name for p in self.parameters if p.condition}
        branches = _points(tuple(p for p in self.parameters if p.name in conditions))
        return sum(
            math.prod(p.domain.size for p in self.active(branch) if p.name not in conditions)
            for branch in branches
        )

    def points(self) -> Iterator[Point]:
        """Yield every point of the space, in the order of its values."""
        return _points(self.parameters)


def _check(name: str, condition: ParameterCondition, earlier: Mapping[str, Domain]) -> None:
    domain = earlier.get(condition.name)
    if not isinstance(domain, Choices):
        raise ValueError(f"{name} depends on {condition.name}, no earlier choice")
    if not condition.values or not set(condition.values) <= set(domain.names):
        raise ValueError(f"{name} depends on {condition.values}, not all of them names of a choice")


def _points(parameters: tuple[Parameter, ...]) -> Iterator[dict[str, str]]:
    if not parameters:
        yield {}
        return
    *earlier, last = parameters
    for point in _points(tuple(earlier)):
        if last.is_active(point):
            yield from ({**point, last.name: value} for value in last.domain.values())
        else:
            yield point


def _exact(number: float) -> Decimal:
    """The decimal number as written: 0.1, not the nearest double."""
    return Decimal(repr(float(number)))
