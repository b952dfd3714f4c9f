"""The ``design`` section: screening designs, which show which factors matter."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, assert_never

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from iostudy.plugins import Mode
from iostudy.study.combinations import Combination, Factor
from iostudy.study.cross_check import MAX_CONFIGURATIONS
from iostudy.study.fields import STRICT_KEYS, one_of, whole
from iostudy.study.model import Design, Study
from iostudy.study.names import UnknownNameError
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.sections import Refusal
from iostudy.study.source import format_value
from iostudy.study.study_file import DesignKey, StudyFile

if TYPE_CHECKING:
    from iostudy_search.screening.designs import Runs

KEY_PATH: KeyPath = ("design",)

SCREENING = Mode(
    "a screening",
    comparisons="iostudy_search.screening.results:compare_levels",
    strategy="iostudy.execution.strategies:WHOLE_TRIALS",
    text="iostudy_search.screening.text:TEXT",
    compares_levels=True,
    plans_trials=True,
    instead="run the configurations that matter as a study of their own",
    power="iostudy_search.screening.results:find_power_basis",
)


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
class ScreeningDesign(Design):
    """How a screening chooses its runs; what a kind does not have is as it is by default."""

    __pydantic_config__ = STRICT_KEYS
    mode: ClassVar[Mode] = SCREENING

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
        """Return the levels of each run; a factor of one level is in all of them."""
        same = {factor.name: factor.levels[0] for factor in factors if len(factor.levels) == 1}
        return tuple(
            same | {f.name: f.levels[i] for f, i in zip(varied(factors), run, strict=True)}
            for run in self.runs(factors)
        )

    def count_comparisons(self, factors: Sequence[Factor]) -> int:
        """Return the number of levels but for the first of each factor."""
        return sum(len(factor.levels) - 1 for factor in varied(factors))

    def describe_estimates(self) -> str:
        """Describe the estimates of effects."""
        return (
            "Each block gives one estimate of each effect, by least squares on its runs (a "
            f"{self.describe()} design); an effect is judged by the mean of these"
        )

    def has_comparison(self, study: Study) -> bool:
        """Return whether the runs separate the effects; it needs all of its runs."""
        from iostudy_search.screening.designs import main_effects

        if study.left_out or len(varied(study.factors)) < self.kind.fewest_factors:
            return False
        try:
            main_effects(
                self.runs(study.factors), [len(factor.levels) for factor in varied(study.factors)]
            )
        except ValueError:
            return False
        return True

    def check(self, collector: ProblemCollector, path: KeyPath, study: Study) -> bool:
        """Note why the factors do not make such a design; return whether they do."""
        before = len(collector.problems)
        for factor in study.factors:
            self._check_factor(collector, (*path, factor.name), factor, study)
        self._check_number(collector, path, study)
        if len(collector.problems) == before:
            self._check_runs(collector, study)
        return len(collector.problems) == before

    def _check_factor(
        self, collector: ProblemCollector, path: KeyPath, factor: Factor, study: Study
    ) -> None:
        if factor.offered:
            collector.add(path, "a design needs levels that the file lists; list them", "offered")
        governing = {other.name for other in varied(study.factors)}
        if factor.condition is not None and factor.condition.name in governing:
            message = (
                f"it is only there while {factor.condition}, so not with every level; give "
                f"{factor.condition.name} one level, or leave `design` out"
            )
            collector.add(path, message)
        if self.kind.takes_two_levels and len(factor.levels) > 2:
            message = (
                f"{self.kind} takes two levels of each factor; leave some out, or write "
                "design: {kind: subset, reduction: 2}"
            )
            collector.add(path, message, found=f"{len(factor.levels)} levels")

    def _check_number(self, collector: ProblemCollector, path: KeyPath, study: Study) -> None:
        number = len([f for f in study.factors if f.offered or len(f.levels) > 1])
        fewest = self.kind.fewest_factors
        if number < fewest:
            message = f"{self.kind} takes factors with several levels, {fewest} or more of them"
            remedy = "leave `design` out to compare configurations"
            collector.add(path, f"{message}; {remedy}", str(number))

    def _check_runs(self, collector: ProblemCollector, study: Study) -> None:
        # Here and not above: numpy takes long to load.
        from iostudy_search.screening.designs import main_effects

        levels = [len(factor.levels) for factor in varied(study.factors)]
        number, most = self.at_least(math.prod(levels)), MAX_CONFIGURATIONS
        if number <= most:
            try:
                runs = self.runs(study.factors)
                main_effects(runs, levels)
            except ValueError as error:
                message = f"no such design can be made of these factors ({error})"
                text = self.describe()
                collector.add(KEY_PATH, f"{message}; choose another one", found=text)
                return
            number = len(runs)
        if number > most:
            message = "the design has too many runs; leave out factors or levels, or choose another"
            collector.add(KEY_PATH, f"{message} one", found=str(number), allowed=f"up to {most}")


def require_screening(study: Study) -> ScreeningDesign:
    """Return the design of a screening."""
    assert isinstance(study.design, ScreeningDesign)
    return study.design


def varied(factors: Sequence[Factor]) -> tuple[Factor, ...]:
    """The factors with more than one level: those that a design is of."""
    return tuple(factor for factor in factors if len(factor.levels) > 1)


@functools.cache
def _runs(design: ScreeningDesign, levels: tuple[int, ...]) -> Runs:
    # Here and not above: numpy takes long to load, and commands without a design need none of it.
    from iostudy_search.screening import designs

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


def _parse(value: Any, validate: ValidatorFunctionWrapHandler) -> ScreeningDesign:
    """The kind alone, or a section whose other keys are those of the kind."""
    section = value if isinstance(value, Mapping) else {"kind": value}
    design: ScreeningDesign = validate(section)
    keys = ("kind", *_OPTIONS[design.kind])
    for key in section:
        if key not in keys:
            raise UnknownNameError(f"key of {design.kind}", key, keys)
    return design


def _check_other_keys(collector: ProblemCollector, file: StudyFile) -> None:
    """Note the keys that do not go together with a design."""
    for key in ("configurations", "baseline", "bounds"):
        if key in file.model_fields_set:
            message = "a design chooses the runs, and compares the levels of each factor"
            value = format_value(collector.source.values[key])
            collector.add((key,), f"{message}; leave this out, or `design`", value)
    if file.refused is Refusal.STRICT:
        message = "a design needs all of its runs; write leave-out, which leaves out levels"
        collector.add(("refused",), message, Refusal.STRICT)


KEY = DesignKey(
    Annotated[
        ScreeningDesign | None,
        WrapValidator(_parse, json_schema_input_type=KindName | ScreeningDesign),
    ],
    "How the runs of a screening are chosen, which finds the factors that matter.",
    check=_check_other_keys,
)
"""A design in a study file."""
