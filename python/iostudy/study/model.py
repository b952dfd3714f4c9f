"""Values of a study: factors, workloads, target and decision rule.

Nothing here touches the machine; a Study can be made, compared and planned with values alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Protocol

from pydantic import BaseModel

from iostudy.analysis.spending import CONTINUABLE, SPENT, AnalysisMethod, Continuation
from iostudy.errors import UsageError
from iostudy.plugins import Mode
from iostudy.settings.definitions.filesystem import FILESYSTEM_TYPE
from iostudy.study.combinations import (
    Combination,
    Configuration,
    Factor,
    Level,
    NamedConfiguration,
    active_levels,
    build_configuration,
    combinations,
    label_combinations,
)
from iostudy.study.problems import KeyPath, ProblemCollector
from iostudy.study.sections import (
    Decision,
    Goal,
    LoadLimit,
    PrepareSection,
    Refusal,
    TelemetrySection,
    Validity,
)
from iostudy.study.targets.target import Target
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure


@dataclass(frozen=True)
class Load:
    """The level of load at which a workload runs: one of several, which make a curve.

    ``curve`` is the label of the workload that all levels share, ``option`` the one that varies,
    ``level`` its number and ``text`` the same as the study file has it.
    """

    curve: str
    option: str
    level: float
    text: str


@dataclass(frozen=True)
class WorkloadRequest:
    """A workload with its options, and the figures that verdicts use.

    The first figure decides. The others are guards: a configuration that is recommended must not be
    worse in any of them. ``label`` is unique in its study and names the workload in the report.
    ``load`` is there where the study runs it at several. ``node_count`` is the number of nodes of a
    fleet that run each trial; None means all.
    """

    label: str
    name: str
    options: BaseModel
    figures: tuple[Figure, ...]
    load: Load | None = None
    node_count: int | None = None

    @property
    def figure(self) -> Figure:
        """The figure that decides."""
        return self.figures[0]

    def name_figures(self) -> str:
        """Return the names of its figures, the deciding one first."""
        return ", ".join(figure.name for figure in self.figures)

    @property
    def listed_as(self) -> str:
        """Its label in the study file, which the levels of a load share."""
        return self.load.curve if self.load else self.label


def describe_target(target: Target, factors: Sequence[Factor]) -> str:
    """What a target is, for a person, with the types that the factors vary on it: ext4 or xfs."""
    varied = [factor for factor in factors if factor.name == FILESYSTEM_TYPE.name]
    if not varied:
        return target.describe()
    types = [level.value for factor in varied for level in factor.levels]
    return target.describe_with(" or ".join(types) or "each file system that is offered")


class Design:
    """How a study chooses its runs, if these are no combinations that its file lists.

    A section of the study file has it; a frozen dataclass of a plugin. ``mode`` is what such a
    study is, ``factors_path`` leads to its factors in the file, and ``chosen`` are the
    configurations that it has before its first trial, if it has not all of its runs then.
    """

    mode: ClassVar[Mode]
    factors_path: ClassVar[KeyPath] = ("factors",)
    chosen: ClassVar[tuple[NamedConfiguration, ...]] = ()

    def combinations(self, factors: Sequence[Factor]) -> tuple[Combination, ...] | None:
        """Return the levels of each run; None if the runs are chosen one after another."""
        return None

    def count_comparisons(self, factors: Sequence[Factor]) -> int:
        """Return the number of verdicts on one workload."""
        return 0

    def set_together(self) -> frozenset[str]:
        """Return the settings that each run writes, if the configurations do not say so."""
        return frozenset()

    def describe_estimates(self) -> str:
        """Describe what is estimated in place of a comparison of two configurations."""
        return ""

    def check(self, collector: ProblemCollector, path: KeyPath, study: Study) -> bool:
        """Note what does not go with the study; return whether its runs can be made."""
        return True

    def has_comparison(self, study: Study) -> bool:
        """Return whether a study without what the host refuses still compares something."""
        return len(study.choices()) > 1


class CommandSection(ABC):
    """What a study says to a command of a plugin; `iostudy run` runs it without that."""

    @abstractmethod
    def describe(self) -> str:
        """Describe it for a person, on a line of `iostudy check`."""

    @abstractmethod
    def explain_run(self, study: str) -> str:
        """Return what `iostudy run` leaves out; ``study`` is its argument."""


class ServiceSpec(Protocol):
    """The service that a study asks for; ``levels`` are those of settings that are not as found."""

    @property
    def dirs(self) -> tuple[Path, ...]:
        """The directories outside the target that it writes to."""

    @property
    def data_dirs(self) -> tuple[Path, ...]:
        """Those of the workloads' data; none: they are on the target."""

    def describe_parts(self) -> tuple[str, ...]:
        """Describe it in parts: what it is, where its data are, what it has."""

    @property
    def reserved(self) -> str:
        """What it reserves in addition to the data, in words."""

    def copies(self, levels: Mapping[str, str]) -> int:
        """Return how often it stores the data of a trial."""

    def reserved_bytes(self, levels: Mapping[str, str]) -> int:
        """Return the bytes that it reserves in addition to the data of a trial."""


def _list_refused(
    refused: Mapping[str, Mapping[str, str]], used: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Each refused level with its reason, of those that are used if given."""
    for factor, levels in refused.items():
        for label, reason in levels.items():
            if used is None or used.get(factor) == label:
                yield f"{factor}={label}", reason


@dataclass(frozen=True)
class RootlessFallback:
    """What the same file asks where there is no root: factors, and perhaps question and target.

    ``design`` chooses the runs of its factors.
    """

    factors: tuple[Factor, ...]
    target: Target | None
    question: str | None
    design: Design | None = None


@dataclass(frozen=True)
class Study:
    """A question with factors, workloads and a decision rule.

    - ``text``: the study file as it was read
    - ``baseline``: the label of the configuration that others are compared with; None for the first
    - ``chosen``: the configurations that the file names; none for every combination
    - ``bounds``: labels of configurations that show what is possible and cannot be chosen
    - ``seed``: the seed that the file fixes, if any
    - ``design``: chooses the runs of a study that does not compare all its configurations
    - ``refusal``: what becomes of levels and configurations that the host refuses before the first
      trial
    - ``refused_levels``: the refused levels by factor and label, with the reason
    - ``reduced``: the labels of configurations without a level that they should have, with what
      they lack and why
    - ``left_out``: the labels of configurations that are left out, with the reason
    - ``reference``: published figures of the question (`iostudy.study.reference`)
    - ``services``: the service that it starts if a workload needs one and the target is none, by
      its name
    - ``command_sections``: what it says to commands of plugins, by its key
    - ``method``: the method of the verdicts, as the ledger records it
    - ``continuation``: the risk that is kept for blocks after the planned ones, as the ledger
      records it
    - ``further_blocks``: the most blocks that this run adds to a workload of a study that is
      continued past its plan; 0 for a study that ends with its plan
    - ``has_windows``: whether a ledger has windows of it, so that they are possible
    - ``bias``: the largest bias of a comparison of windows by the responses to switches, a
      log-ratio, as the pilots bound it
    - ``notes``: what was replaced and why (no root, for instance), and what tracing costs
    """

    name: str
    question: str
    text: str
    target: Target
    factors: tuple[Factor, ...]
    workloads: tuple[WorkloadRequest, ...]
    decide: Decision
    validity: Validity
    baseline_label: str | None = None
    chosen: tuple[NamedConfiguration, ...] = ()
    bounds: tuple[str, ...] = ()
    design: Design | None = None
    seed: int | None = None
    fallback: RootlessFallback | None = None
    refusal: Refusal = Refusal.STOP
    refused_levels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reduced: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    services: Mapping[str, ServiceSpec] = field(default_factory=dict)
    telemetry: TelemetrySection = field(default_factory=TelemetrySection)
    prepare: PrepareSection = field(default_factory=PrepareSection)
    limit: LoadLimit = field(default_factory=LoadLimit)
    command_sections: Mapping[str, CommandSection] = field(default_factory=dict)
    method: AnalysisMethod = AnalysisMethod.NORMAL_SCORES
    continuation: Continuation = CONTINUABLE
    further_blocks: float = 0
    has_windows: bool = False
    bias: float = 0.0
    notes: tuple[str, ...] = ()

    def configurations(self) -> tuple[Configuration, ...]:
        """Those that the file names, else every combination, but for those left out.

        The baseline is the first.
        """
        return self._configurations

    def choices(self) -> tuple[Configuration, ...]:
        """Those of them that one may keep."""
        return tuple(c for c in self._configurations if c.label not in self.bounds)

    @cached_property
    def _configurations(self) -> tuple[Configuration, ...]:
        label = self.baseline_label
        built = [
            build_configuration(name, c, self.factors)
            for name, c in self._labelled()
            if name not in self.left_out
        ]
        return tuple(sorted(built, key=lambda c: c.label != label)) if label else tuple(built)

    def combinations(self) -> dict[str, Combination]:
        """The levels of each configuration by its label, also of those left out."""
        return dict(self._labelled())

    def _labelled(self) -> Iterator[tuple[str, Combination]]:
        runs = None if self.design is None else self.design.combinations(self.factors)
        if runs is not None:
            return label_combinations(runs, self.factors)
        if self.chosen:
            return ((c.label, active_levels(c, self.factors)) for c in self.chosen)
        return label_combinations(combinations(self.factors), self.factors)

    @property
    def service(self) -> str:
        """The service that its workloads need, such as a Hadoop cluster; "" for none."""
        return next(filter(None, (catalog.get(w.name).service for w in self.workloads)), "")

    @property
    def service_spec(self) -> ServiceSpec | None:
        """What the study asks of that service; None if it needs none."""
        return self.services[self.service] if self.service else None

    @property
    def most_nodes(self) -> int | None:
        """The largest number of nodes that a workload of it needs; None without such a load."""
        return max((w.node_count for w in self.workloads if w.node_count is not None), default=None)

    def require_one_host(self) -> None:
        """UsageError for a study with a number of nodes as its load."""
        if self.most_nodes is not None:
            raise UsageError(
                "a study of one host",
                found=f"a load of up to {self.most_nodes} nodes, fleet.nodes",
                where=self.name,
                remedy="run it with `iostudy fleet run --design together`, or leave out this load",
            )

    @property
    def starts_service(self) -> bool:
        """Whether that service is one that the study starts, and not one that is there."""
        return bool(self.service) and not self.target.cluster_uri

    @property
    def baseline(self) -> Configuration:
        """The configuration that all others are compared with."""
        return self.configurations()[0]

    @property
    def comparisons(self) -> int:
        """How many verdicts the study gives at once: (configurations - 1) x workloads.

        A design may compare something else, or nothing.
        """
        if self.design is not None:
            return self.design.count_comparisons(self.factors) * len(self.workloads)
        return (len(self.configurations()) - 1) * len(self.workloads)

    @property
    def is_continued(self) -> bool:
        """Whether it runs blocks after the planned ones."""
        return self.further_blocks > 0

    @property
    def last_block(self) -> int:
        """The last block that it may run: of its plan, or of its last stage if it is continued."""
        planned = self.decide.max_blocks
        return self.continuation.ends(planned)[-1] if self.is_continued else planned

    @property
    def goal(self) -> Goal:
        """The goal by labels of workloads; by default, better on any and not worse on all.

        A workload of the file stands for all levels of its load. Better includes not worse.
        """
        labels = tuple(request.label for request in self.workloads)
        declared = self.decide.goal
        if declared is None:
            return Goal(labels, labels)
        better = self._requested(declared.better)
        others = tuple(label for label in labels if label not in better)
        guards = declared.not_worse
        return Goal(better, others if guards is None else self._requested(guards))

    def _requested(self, listed: Sequence[str]) -> tuple[str, ...]:
        return tuple(workload.label for workload in self.workloads if workload.listed_as in listed)

    @property
    def weights(self) -> tuple[float, ...]:
        """What each workload counts in the combined ranking; only their ratios matter.

        The levels of a load share what their workload counts, so that a curve of four levels does
        not outweigh another workload four times.
        """
        levels = Counter(request.listed_as for request in self.workloads)
        return tuple(
            self.decide.weight(request.listed_as) / levels[request.listed_as]
            for request in self.workloads
        )

    def describe_target(self) -> str:
        """What the target is, for a person, with every type of file system that is made on it."""
        return describe_target(self.target, self.factors)

    def awaiting_offer(self) -> tuple[Factor, ...]:
        """The factors whose levels are those that the host offers."""
        return tuple(factor for factor in self.factors if factor.offered and not factor.levels)

    def known(self) -> Study:
        """The study without the factors that await an offer, and without what depends on them."""
        names = {factor.name for factor in self.awaiting_offer()}
        waiting = {f.name for f in self.factors if f.condition and f.condition.name in names}
        kept = tuple(f for f in self.factors if f.name not in names | waiting)
        return replace(self, factors=kept, baseline_label=None)

    def with_offered(self, offered: Mapping[str, tuple[str, ...]]) -> Study:
        """The study with the host's levels in the factors that wait for them."""
        factors = tuple(
            replace(f, levels=tuple(Level(v, v) for v in offered[f.name])) if f.offered else f
            for f in self.factors
        )
        return replace(self, factors=factors)

    def without_levels(self, refused: Mapping[str, Mapping[str, str]]) -> Study:
        """Return the study without levels that a host refuses, by factor and label with the reason.

        A named configuration has the baseline's level in the place of a refused one, and is left
        out where that makes it another one. A design is one of the other levels.
        """
        if not refused:
            return self
        if not self.chosen:
            factors = tuple(factor.without(refused.get(factor.name, ())) for factor in self.factors)
            notes = tuple(f"{level} is left out: {why}" for level, why in _list_refused(refused))
            return replace(self, factors=factors, refused_levels=refused, notes=self.notes + notes)
        before = self.combinations()
        baseline = before[self.baseline.label]
        chosen = tuple(c.replace(refused, baseline, self.factors) for c in self.chosen)
        after = {c.label: active_levels(c, self.factors) for c in chosen}
        reduced = {
            label: "; ".join(
                f"{level}: {why}"
                for level, why in _list_refused(
                    refused, {name: level.label for name, level in levels.items()}
                )
            )
            for label, levels in before.items()
            if levels != after[label]
        }
        unreduced = [label for label in reversed(after) if label not in reduced]
        first = {frozenset(after[label].items()): label for label in unreduced}
        twins: dict[str, str] = {}
        for label, lacking in reduced.items():
            same = first.setdefault(frozenset(after[label].items()), label)
            if same != label:
                twins[label] = f"without {lacking}, it is {same}"
        kept = {label: why for label, why in reduced.items() if label not in twins}
        notes = (*self.notes, *(f"{label} lacks {lacking}" for label, lacking in kept.items()))
        return replace(
            self, chosen=chosen, refused_levels=refused, reduced=kept, notes=notes
        ).without(twins)

    def without(self, refused: Mapping[str, str]) -> Study:
        """The study without these configurations; the reasons are noted."""
        new = {label: why for label, why in refused.items() if label not in self.left_out}
        notes = tuple(f"{label} is left out: {reason}" for label, reason in new.items())
        return replace(self, left_out={**self.left_out, **new}, notes=(*self.notes, *notes))

    def without_continuation(self) -> Study:
        """Return the study without a reserve, for a command that cannot continue it."""
        return replace(self, continuation=SPENT)

    def without_root(self) -> Study:
        """Return the study with its ``without_root`` section applied; itself without one."""
        if self.fallback is None:
            return self
        wanted = ", ".join(factor.name for factor in self.factors)
        instead = ", ".join(factor.name for factor in self.fallback.factors)
        note = f"not root: {wanted} cannot be changed, so the study varies {instead} instead"
        design = self.fallback.design
        return replace(
            self,
            question=self.fallback.question or self.question,
            factors=self.fallback.factors,
            target=self.fallback.target or self.target.without_root(),
            baseline_label=None,
            chosen=() if design is None else design.chosen,
            bounds=(),
            design=design,
            notes=(*self.notes, note),
        )
