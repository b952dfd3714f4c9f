"""Published figures and the study's own as texts."""

from __future__ import annotations

from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_figure,
    format_signed_change,
    join_words,
)
from iostudy.report.topics.reference.values import PublishedFigureReport, ReferenceReport


def format_published_name(published: PublishedFigureReport) -> str:
    """Return the name of the figure: ``throughput of dfsio-write``."""
    return f"{published.figure} of {published.workload}"


def format_published_value(published: PublishedFigureReport) -> str:
    """Return the published digits and unit: ``0.85347 MB/s``."""
    return f"{published.value:g} {published.unit}"


def format_published_change(published: PublishedFigureReport) -> str:
    """A published change with the runs it is of: ``+8.0 % (1 run)``; none for the baseline."""
    if published.baseline:
        return ""
    return f"{format_signed_change(published.change)} ({format_count(published.runs, 'run')})"


def format_own_value(published: PublishedFigureReport) -> str:
    """The user's own figure: ``512 MiB/s``; ``512 MiB/s (none)`` where that is called otherwise."""
    own = published.own
    if own is None:
        return UNKNOWN
    called = "" if own.configuration == published.configuration else f" ({own.configuration})"
    return f"{format_figure(own.value)} {own.unit}{called}"


def format_own_change(published: PublishedFigureReport) -> str:
    """The user's own change with its interval; none for the baseline."""
    if published.baseline:
        return ""
    own = published.own
    return UNKNOWN if own is None else format_change_interval(own.change, own.interval)


def introduce_reference(reference: ReferenceReport) -> str:
    """Describe the content and the limits of the table of published figures."""
    if not reference.compared:
        return explain_missing_figures(reference)
    return (
        f"{reference.title} ({reference.kind}, {reference.source}). Changes are against "
        f"{reference.baseline}; own changes have the interval of a verdict. "
        f"{_explain_units(reference)}Figures of another machine: not used for verdicts."
    )


def _explain_units(reference: ReferenceReport) -> str:
    """A publication may count in powers of 1000, iostudy counts in powers of 1024."""
    units = {(each.unit, each.own.unit) for each in reference.figures if each.own is not None}
    if ("MB/s", "MiB/s") not in units:
        return ""
    return (
        "Own MiB have 2^20 bytes; published MB have 10^6, a twentieth less, unless its notes say "
        "otherwise. "
    )


def explain_missing_figures(reference: ReferenceReport) -> str:
    """Why no table of published figures is shown."""
    labels, workloads = (
        join_words(list(dict.fromkeys(names)))
        for names in zip(*((p.configuration, p.workload) for p in reference.figures), strict=True)
    )
    return (
        f"{reference.title} ({reference.kind}, {reference.source}) has figures of {labels} on "
        f"{workloads}. This study has no finished block of these, so the published figures "
        f"stand alone: `iostudy report --reference {reference.name}`."
    )
