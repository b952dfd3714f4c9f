"""The ``design`` section: screening designs, which show which factors matter."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, assert_never

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from iostudy.study.combinations import Combination, Factor
from iostudy.study.fields import STRICT_KEYS, one_of, whole
from iostudy.study.names import UnknownNameError
from iostudy.study.problems import KeyPath

if TYPE_CHECKING:
    from iostudy.analysis.design import Runs

KEY_PATH: KeyPath = ("design",)


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


KindName = Annotated[DesignKind, one_of("design", DesignKind)]


@dataclass(frozen=True)
class Design:
    """How a screening chooses its runs; what a kind does not have is as it is by default."""

    __pydantic_config__ = STRICT_KEYS

    kind: KindName
    """how the runs are chosen among all combinations of levels"""
    fold_over: Annotated[bool, Field(strict=True)] = True
    """plackett-burman: whether every run is repeated with all levels reversed"""
    resolution: Annotated[int, whole(3, 5)] = 4
    """fractional: the least resolution, III, IV or V"""
    reduction: Annotated[int, whole(2, 100)] = 2
    """subset: about one in so many of all combinations is run"""

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
        """Return the index of each level: runs x varied factors. ValueError without a design."""
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


_OPTIONS = {
    DesignKind.FULL: (),
    DesignKind.FRACTIONAL: ("resolution",),
    DesignKind.PLACKETT_BURMAN: ("fold_over",),
    DesignKind.SUBSET: ("reduction",),
}


def _parse(value: Any, validate: ValidatorFunctionWrapHandler) -> Design:
    """The kind alone, or a section whose other keys are those of the kind."""
    section = value if isinstance(value, Mapping) else {"kind": value}
    design: Design = validate(section)
    known = ("kind", *_OPTIONS[design.kind])
    for key in section:
        if key not in known:
            raise UnknownNameError(f"key of {design.kind}", key, known)
    return design


DesignValue = Annotated[
    Design | None, WrapValidator(_parse, json_schema_input_type=KindName | Design)
]
"""A design in a study file."""
