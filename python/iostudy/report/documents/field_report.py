"""A field report repeated by studies: its items with own answers, its figures with own ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from iostudy.report.base import OfConfiguration
from iostudy.report.formatting import format_count, format_figure
from iostudy.report.section import Document, Section
from iostudy.report.topics.bottlenecks import describe_limits
from iostudy.report.topics.reference import (
    PUBLISHED_NOTE,
    PublishedFigureReport,
    build_publication,
    tabulate_figures,
)
from iostudy.report.topics.verdicts import (
    build_verdict_table,
    format_change,
    format_verdict,
    list_verdicts,
)
from iostudy.report.topics.volumes import describe_rate
from iostudy.report.values import Report
from iostudy.study.reference import PublishedItem


@dataclass(frozen=True)
class RepeatedItem:
    """An item of a field report with the study that repeats it.

    ``note`` says why no study runs on this host (``command`` is then empty) or ran in the time, or
    why it is not the first one of the item. ``report`` is there once the study has finished trials,
    and ``failed`` says that it has not ended as planned.
    """

    item: PublishedItem
    command: str
    note: str
    report: Report | None = None
    failed: bool = False

    @property
    def answer(self) -> str:
        """The answer of the study with its interval; without one the reason."""
        if self.report is None:
            not_run = "not run:" if self.command else "not on this machine, because"
            return f"{'failed:' if self.failed else not_run} {self.note}"
        end = (f"It did not end as planned: {self.note}.",) if self.failed else ()
        return " ".join((*(tuple(self._answers(self.report)) or _summarize(self.report)), *end))

    def _answers(self, report: Report) -> Iterator[str]:
        """Yield what the item asks for: a part of the report, own figures or some verdicts."""
        item = self.item
        if item.section == "volume" and report.volume:
            yield from map(describe_rate, filter(self._is_selected, report.volume.rates))
        elif item.section == "limits":
            for limit in filter(self._is_selected, report.limits):
                yield f"{limit.workload}, {limit.configuration}: {describe_limits(limit)}."
        elif item.figures:
            yield from self._figures(report)
        elif item.configurations:
            for table in list_verdicts(report.workloads):
                labels = item.configurations
                selected = [result for result in table.results if result.configuration in labels]
                if selected and item.workload in ("", table.workload):
                    changes = "; ".join(
                        f"{result.configuration} {format_change(result)}, {format_verdict(result)}"
                        for result in selected
                    )
                    against = f"against {table.results[0].configuration}"
                    yield f"{table.figure.name} of {table.workload} {against}: {changes}."

    def _is_selected(self, part: OfConfiguration) -> bool:
        labels = self.item.configurations
        of_workload = self.item.workload in ("", part.workload)
        return of_workload and (not labels or part.configuration in labels)

    def _figures(self, report: Report) -> Iterator[str]:
        """Own figures of the baseline that answer the item: ``create_bytes 71.0 B.``."""
        for workload in report.workloads:
            for other in workload.others:
                mean = other.means[0]
                if other.figure.name in self.item.figures and mean.value is not None:
                    value = format_figure(mean.value)
                    where = f"under {mean.configuration}, {workload.label}"
                    yield f"{other.figure.name} {value} {other.figure.unit} {where}."

    @property
    def limited_by(self) -> str:
        """The bottleneck of the baseline on the first workload."""
        limits = self.report.limits if self.report else ()
        return limits[0].limit.value if limits else ""


def _summarize(report: Report) -> Iterator[str]:
    """Yield the headline, and the changes of the first workload if it has no interval."""
    yield report.headline
    for table in list_verdicts(report.workloads)[: 0 if "[" in report.headline else 1]:
        changes = [f"{r.configuration} {format_change(r)}" for r in table.results[1:4]]
        if changes:
            yield f"{table.figure.name} of {table.workload}: {'; '.join(changes)}."


def build_field_report(name: str, items: Sequence[RepeatedItem]) -> Document:
    """Build the document: items, published figures with own ones, and all own verdicts."""
    published = build_publication(name)
    reports = {item.report.name: item.report for item in items if item.report is not None}
    verdicts = [
        build_verdict_table(table, report.noun)
        for report in reports.values()
        for table in list_verdicts(report.workloads)
    ]
    return Document(
        title=f"{name}: {published.title}",
        notes=(
            f"{published.kind}, {published.source}.",
            PUBLISHED_NOTE.format(name=name),
            "Own sizes are smaller than those published, except in the size full: compare changes.",
            *(f"{item.command}: {item.note}" for item in items if item.report and item.note),
        ),
        sections=(
            Section("items", "Items", notes=tuple(_describe_items(items))),
            _compare_figures(name, reports.values()),
            Section("verdicts", "Verdicts", tables=verdicts),
        ),
    )


def _describe_items(items: Sequence[RepeatedItem]) -> Iterator[str]:
    """Describe the answer of each study after the items that it repeats, in a paragraph."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for item in items:
        groups.setdefault((item.command, item.answer, item.limited_by), []).append(item.item.item)
    for (command, answer, limited_by), names in groups.items():
        limit = f" Limited by: {limited_by}." if limited_by else ""
        run = f" - {command}:" if command else ":"
        yield f"{'; '.join(names)}{run} {answer}{limit}"


def _compare_figures(name: str, reports: Iterable[Report]) -> Section:
    """The published figures that a study has too, with its own, and the number of the others."""
    measured_figures: dict[str, list[PublishedFigureReport]] = {}
    for report in reports:
        for figure in report.reference.figures if report.reference else ():
            if figure.own is not None:
                measured_figures.setdefault(f"{report.name}: {figure.workload}", []).append(figure)
    tables = [tabulate_figures(figures, title) for title, figures in measured_figures.items()]
    measured = {
        (figure.workload, figure.configuration, figure.figure, figure.load)
        for figures in measured_figures.values()
        for figure in figures
    }
    others = len(build_publication(name).figures) - len(measured)
    note = (
        f"{format_count(others, 'published figure')} without an own one at this size: "
        f"`iostudy report --reference {name}` prints them."
    )
    return Section("figures", "Figures", (note,) if others else (), tables=tables)
