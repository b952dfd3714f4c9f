"""The ``design`` section: screening designs, which show which factors matter."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, assert_never

from iostudy.study.combinations import Combination, Factor
from iostudy.study.names import UnknownNameError
from iostudy.study.problems import Path, ProblemCollector, format_value

if TYPE_CHECKING:
    from iostudy.analysis.design import Runs

KEY = "design"
WAY: Path = (KEY,)
DEFAULT_RESOLUTION, DEFAULT_REDUCTION = 4, 2


class DesignKind(StrEnum):
    """How the runs are chosen among all combinations of levels."""

    FULL = "full"
    FRACTIONAL = "fractional"
    PLACKETT_BURMAN = "plackett-burman"
    SUBSET = "subset"

    @property
    def takes_two_levels(self) -> bool:
        """Whether each factor has to have two levels."""
        return self in (DesignKind.FRACTIONAL, DesignKind.PLACKETT_BURMAN)

    @property
    def fewest_factors(self) -> int:
        """How many factors it takes at least; fewer have no smaller design than every run."""
        return 3 if self.takes_two_levels else 2


@dataclass(frozen=True)
class Design:
    """How a screening chooses its runs; what a kind does not have is as it is by default."""

    kind: DesignKind
    fold_over: bool = True
    resolution: int = DEFAULT_RESOLUTION
    reduction: int = DEFAULT_REDUCTION

    def describe(self) -> str:
        """For a person: ``plackett-burman with fold-over``."""
        match self.kind:
            case DesignKind.FULL:
                return "full"
            case DesignKind.FRACTIONAL:
                return f"fractional, resolution {self.resolution} or higher"
            case DesignKind.PLACKETT_BURMAN:
                return f"plackett-burman {'with' if self.fold_over else 'without'} fold-over"
            case DesignKind.SUBSET:
                return f"subset, about 1 in {self.reduction} of all combinations"
            case _:
                assert_never(self.kind)

    def at_least(self, combinations: int) -> int:
        """A number of runs that it does not go below, known before it is made."""
        match self.kind:
            case DesignKind.FULL:
                return combinations
            case DesignKind.SUBSET:
                return combinations // (2 * self.reduction)
            case DesignKind.FRACTIONAL | DesignKind.PLACKETT_BURMAN:
                return 0
            case _:
                assert_never(self.kind)

    def runs(self, factors: Sequence[Factor]) -> Runs:
        """Runs x varied factors: the index of each one's level. ValueError where there is none."""
        return _runs(self, tuple(len(factor.levels) for factor in varied(factors)))

    def combinations(self, factors: Sequence[Factor]) -> tuple[Combination, ...]:
        """The levels that go together, run by run; a factor of one level is in all of them."""
        same = {factor.name: factor.levels[0] for factor in factors if len(factor.levels) == 1}
        return tuple(
            same | {f.name: f.levels[i] for f, i in zip(varied(factors), run, strict=True)}
            for run in self.runs(factors)
        )


def varied(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """The factors with more than one level: those that a design is of."""
    return tuple(factor for factor in factors if len(factor.levels) > 1)


@functools.cache
def _runs(design: Design, levels: tuple[int, ...]) -> Runs:
    # Here and not above: numpy takes long to load, and commands without a design need none of it.
    from iostudy.analysis import design as designs

    match design.kind:
        case DesignKind.FULL:
            return designs.full_factorial(levels)
        case DesignKind.FRACTIONAL:
            return designs.fractional_factorial(len(levels), design.resolution)
        case DesignKind.PLACKETT_BURMAN:
            return designs.plackett_burman(len(levels), fold_over=design.fold_over)
        case DesignKind.SUBSET:
            return designs.generalized_subset(levels, design.reduction)
        case _:
            assert_never(design.kind)


_KIND = "kind"
_KEYS = {
    DesignKind.FULL: (),
    DesignKind.FRACTIONAL: ("resolution",),
    DesignKind.PLACKETT_BURMAN: ("fold_over",),
    DesignKind.SUBSET: ("reduction",),
}


def parse_design(collector: ProblemCollector, values: Mapping[str, Any]) -> Design | None:
    """The design that the file asks for, if it does; what is wrong with it is noted."""
    if KEY not in values:
        return None
    for key in ("configurations", "baseline", "bounds"):
        if key in values:
            message = "a design chooses the runs, and compares the levels of each factor"
            collector.add(
                (key,), f"{message}; leave this out, or `design`", format_value(values[key])
            )
    if values.get("refused") == "leave-out":
        message = (
            "a design needs all of its runs; leave this out, and out of factors what is refused"
        )
        collector.add(("refused",), message, "leave-out")
    given = values[KEY]
    section = given if isinstance(given, Mapping) else {_KIND: given}
    kind = collector.attempt(WAY, _kind, section.get(_KIND))
    return None if kind is None else Design(kind, **_options(collector, kind, section))


def _options(
    collector: ProblemCollector, kind: DesignKind, section: Mapping[str, Any]
) -> dict[str, Any]:
    known = (_KIND, *_KEYS[kind])
    parsed = {}
    for key, value in section.items():
        if key not in known:
            error = UnknownNameError(f"key of {kind}", str(key), known)
            collector.note((*WAY, key), error, key)
        elif key != _KIND:
            parsed[key] = collector.attempt((*WAY, key), _PARSERS[key], value)
    return {key: value for key, value in parsed.items() if value is not None}


def _kind(value: Any) -> DesignKind:
    if value not in tuple(DesignKind):
        raise UnknownNameError("design", format_value(value), tuple(DesignKind))
    return DesignKind(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("write true or false")
    return value


def _number(least: int, most: int) -> Any:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"a whole number from {least} to {most} is wanted")
        return value

    return parse


_PARSERS: Mapping[str, Any] = {
    "fold_over": _flag,
    "resolution": _number(3, 5),
    "reduction": _number(2, 100),
}
