"""Published figures with the study's own figures of the same name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from pydantic import FiniteFloat

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import Interval, Value, declare_schema
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_figure,
    format_mean,
    format_signed_change,
    join_words,
)
from iostudy.report.section import Document, Section, TextTable, make_table
from iostudy.results.comparisons import decision_rule
from iostudy.results.paired_means import compare_means
from iostudy.study import reference
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.reference import (
    Citation,
    Publication,
    PublishedFigure,
    PublishedOrder,
    PublishedValue,
)
from iostudy.telemetry.iostat import compute_old_figures
from iostudy.units import MIB
from iostudy.workloads import catalog


class MeasuredCounterpart(Value):
    """The study's own figure for a published one."""

    configuration: str
    """Label of the study's configuration. Its name may differ from the published one."""
    unit: str
    """Unit of the value."""
    value: FiniteFloat
    """Geometric mean over ``blocks``."""
    value_interval: Interval = None
    """95 % confidence interval of the value; null below two blocks."""
    blocks: int
    """Number of blocks shared with the counterpart of the published baseline."""
    change: FiniteFloat | None
    """Change against that counterpart, as a fraction; null for itself."""
    interval: Interval
    """Confidence interval of the change; null if unknown."""


class PublishedFigureReport(PublishedValue, Value):
    """One published figure of one configuration."""

    baseline: bool
    """Whether it is the published baseline."""
    runs: int
    """Number of runs that the value summarizes."""
    load: str = ""
    """Published load, such as ``20 jobs``; empty with a single one."""
    change: FiniteFloat | None
    """Change against the published baseline, as a fraction; null for the baseline."""
    own: MeasuredCounterpart | None
    """The study's own figure; null without such a configuration, workload, figure or block."""

    @property
    def called(self) -> str:
        """The configuration with its load: ``HDFS at 20 jobs``."""
        return f"{self.configuration} at {self.load}" if self.load else self.configuration


class ReferenceReport(Citation, Value):
    """A publication on the question. No verdict uses its figures."""

    name: str
    """Name of the reference in study files."""
    orders: tuple[PublishedOrder, ...]
    """Published rankings with at least two configurations of the study."""
    figures: tuple[PublishedFigureReport, ...]
    """Published figures."""

    @property
    def compared(self) -> tuple[PublishedFigureReport, ...]:
        """The figures of the workloads that the study has figures of too."""
        workloads = {figure.workload for figure in self.figures if figure.own is not None}
        return tuple(figure for figure in self.figures if figure.workload in workloads)


class PublicationReport(Value):
    """A publication by itself."""

    schema_name: Literal["iostudy.reference/1"] = declare_schema("iostudy.reference/1")
    published: ReferenceReport
    """The publication."""


def build_publication(name: str) -> ReferenceReport:
    """A publication by itself, with none of a study's own figures."""
    published = reference.get(name)
    figures = []
    for figure in published.figures:
        base = published.baseline_value(figure)
        is_baseline = figure.configuration == published.baseline
        report = PublishedFigureReport.copy_from(
            figure,
            baseline=is_baseline,
            load="" if figure.load is None else f"{figure.load:g} {published.load}",
            change=None if is_baseline or not base else figure.value / base - 1,
            own=None,
        )
        figures.append(report)
    return ReferenceReport.copy_from(published, name=name, figures=figures)


def build_reference(study: Study, rows: Sequence[TrialRow]) -> ReferenceReport | None:
    """Return the study's publication with the study's own figures; None without one.

    Published figures are matched with configurations by label and with workloads by label or
    name. Figures of Hadoop's own program follow where the workload models it. Their intervals
    are the study's t intervals. Published rankings need two configurations of the study.
    """
    if study.reference is None:
        return None
    published, whole = reference.get(study.reference), build_publication(study.reference)
    counterparts = _Counterparts(study, published, rows)
    labels = {configuration.label for configuration in study.configurations()}
    orders = tuple(
        order
        for order in whole.orders
        if len(labels & {counterparts.name(name) for name in order.order}) > 1
    )
    figures, of_hadoop = [], []
    for report, figure in zip(whole.figures, published.figures, strict=True):
        measured = counterparts.measure(figure, counterparts.match(figure, figure.is_of))
        figures.append(report.model_copy(update={"own": measured}))
        if request := counterparts.match(figure, figure.is_modelled):
            measured = counterparts.measure(figure, request)
            of_hadoop.append(
                report.model_copy(update={"workload": request.listed_as, "own": measured})
            )
    return whole.model_copy(update={"orders": orders, "figures": (*figures, *of_hadoop)})


@dataclass(frozen=True)
class _Counterparts:
    """What a study has for the configurations, workloads and figures of a publication."""

    study: Study
    published: Publication
    rows: Sequence[TrialRow]

    def name(self, published: str) -> str:
        """Return the study's name of a published configuration."""
        if any(configuration.label == published for configuration in self.study.configurations()):
            return published
        return self.published.counterparts.get(published, published)

    def match(
        self, figure: PublishedFigure, matches: Callable[[WorkloadRequest], bool]
    ) -> WorkloadRequest | None:
        """Return the first workload that a figure matches, at the same load; None without any."""
        label = self.published.counterparts.get(figure.workload)
        requests = (
            workload
            for workload in self.study.workloads
            if (matches(workload) or workload.label == label)
            and figure.load in (None, getattr(workload.options, self.published.load, None))
        )
        return next(requests, None)

    def measure(
        self, figure: PublishedFigure, request: WorkloadRequest | None
    ) -> MeasuredCounterpart | None:
        """Return means over the blocks that both configurations have run, as in the verdicts."""
        if request is None:
            return None
        label, baseline = self.name(figure.configuration), self.name(self.published.baseline)
        figures = self._values(figure, request, label)
        base = figures if label == baseline else self._values(figure, request, baseline)
        # A study without the published baseline has the value, and no change.
        means = compare_means(base or figures, figures, decision_rule(self.study))
        if not means.blocks:
            return None
        known = catalog.get(request.name).figures(request.options)
        units = {figure.name: figure.unit for figure in known}
        return MeasuredCounterpart.copy_from(
            means,
            configuration=label,
            # That of other figures, such as iostat's, is the published one.
            unit=figure.unit if figure.own in units else units.get(figure.figure, figure.unit),
            value=means.mean,
            value_interval=means.mean_interval,
        )

    def _values(
        self, figure: PublishedFigure, request: WorkloadRequest, configuration: str
    ) -> dict[int, float]:
        """Block -> the figure of the trials that count, where it has a logarithm."""
        pair = (request.label, configuration)
        return {
            row.block: value
            for row in self.rows
            if row.counts and (row.workload, row.configuration) == pair
            if (value := _value(row, figure)) > 0
        }


def _value(row: TrialRow, figure: PublishedFigure) -> float:
    """Return the figure of the workload, or else of iostat for its device; 0 without it."""
    figures = row.figures or {}
    if figure.own in figures:
        return figures[figure.own] * figure.times
    if figure.figure in figures:
        return figures[figure.figure]
    if not row.summary or not (device := row.summary.devices.get(row.device)):
        return 0.0
    # What iostat -dmx has printed over the years; its MB are MiB.
    known = defaultdict(float, device)
    sizes = {f"{prefix}MB/s": known[f"{prefix}kB/s"] / 1024 for prefix in "rw"}
    return {**device, **compute_old_figures(known), **sizes}.get(figure.figure, 0.0)


def format_published_change(published: PublishedFigureReport) -> str:
    """A published change with the runs it is of: ``+8.0 % (1 run)``; none for the baseline."""
    if published.baseline:
        return ""
    return f"{format_signed_change(published.change)} ({format_count(published.runs, 'run')})"


def format_own_value(published: PublishedFigureReport) -> str:
    """The user's own figure: ``512 [498, 526] MiB/s = 537 MB/s (none)``.

    The brackets are its 95 % interval. MB follow where those were published, and the configuration
    where it is called otherwise.
    """
    measured = published.own
    if measured is None:
        return UNKNOWN
    is_other_unit = (measured.unit, published.unit) == ("MiB/s", "MB/s")
    converted = f" = {format_figure(measured.value * MIB / 1e6)} MB/s" if is_other_unit else ""
    is_renamed = measured.configuration != published.configuration
    called = f" ({measured.configuration})" if is_renamed else ""
    mean = format_mean(measured.value, measured.value_interval)
    return f"{mean} {measured.unit}{converted}{called}"


def format_own_change(published: PublishedFigureReport) -> str:
    """The user's own change with its interval; none for the baseline."""
    if published.baseline:
        return ""
    measured = published.own
    return (
        UNKNOWN if measured is None else format_change_interval(measured.change, measured.interval)
    )


def build_reference_section(reference: ReferenceReport | None) -> Section | None:
    """Published figures with the study's own; None without a publication."""
    if reference is None:
        return None
    # A study that has none of these figures shows all of them.
    shown = reference.compared or reference.figures
    tables = [
        tabulate_figures(figures, workload)
        for workload, figures in groupby(shown, key=lambda figure: figure.workload)
    ]
    return Section(
        "reference",
        f"Comparison with {reference.name}",
        (
            introduce_reference(reference),
            *reference.circumstances,
            *reference.caveats,
            *(f"Open question: {question}" for question in reference.open_questions),
        ),
        tables=tables,
    )


def tabulate_figures(figures: Iterable[PublishedFigureReport], title: str) -> TextTable:
    """Published figures with the study's own."""
    rows = (
        {
            "figure": published.figure,
            "configuration": published.called,
            "published": f"{published.value:g} {published.unit}",
            "change": format_published_change(published),
            "own": format_own_value(published),
            "own change": format_own_change(published),
        }
        for published in figures
    )
    return make_table(rows, title, names=2, words=4)


def introduce_reference(reference: ReferenceReport) -> str:
    """Describe the content and the limits of the table of published figures."""
    if not reference.compared:
        labels = join_words(list(dict.fromkeys(f.configuration for f in reference.figures)))
        workloads = join_words(list(dict.fromkeys(f.workload for f in reference.figures)))
        return (
            f"{reference.title} ({reference.kind}, {reference.source}) has figures of {labels} on "
            f"{workloads}. This study has no finished block of these, so the published figures "
            f"stand alone: `iostudy report --reference {reference.name}`."
        )
    return (
        f"{reference.title} ({reference.kind}, {reference.source}). Changes are against "
        f"{reference.baseline}; own changes have the interval of a verdict. Own MiB have 2^20 "
        "bytes. Figures of another machine: not used for verdicts."
    )


PUBLISHED_NOTE = (
    "Figures of another machine, as published: no verdict, check or test uses them. "
    "`iostudy report DIR --reference {name}` compares a study's own figures with them."
)


def build_reference_document(reference: ReferenceReport) -> Document:
    """The figures first, then what has to be known to read them."""
    rows = (
        {
            "workload": figure.workload,
            "figure": figure.figure,
            "configuration": figure.called,
            "published": f"{figure.value:g} {figure.unit}",
            "change": "" if figure.change is None else format_published_change(figure),
        }
        for figure in reference.figures
    )
    table = make_table(rows, names=3)
    note = f"Changes are against {reference.baseline}, where that has the figure."
    orders = tuple(f"{order.where}: {' > '.join(order.order)}" for order in reference.orders)
    return Document(
        title=f"{reference.name}: {reference.title}",
        notes=(
            f"{reference.kind}, {reference.source}.",
            PUBLISHED_NOTE.format(name=reference.name),
        ),
        sections=(
            Section("published", "Published figures", (note,), tables=(table,)),
            *((Section("orders", "Published ranking", orders),) if orders else ()),
            Section("circumstances", "Circumstances", reference.circumstances),
            Section("caveats", "Caveats", reference.caveats),
            Section("open-questions", "Open questions", reference.open_questions),
        ),
    )
