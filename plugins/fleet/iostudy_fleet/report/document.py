"""Report on a fleet as a document for every renderer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import (
    UNKNOWN,
    format_change_interval,
    format_count,
    format_figure,
    format_interval,
    format_time,
)
from iostudy.report.section import Document, Section, TextTable
from iostudy.units import format_percent
from iostudy_fleet.report.charts import (
    MEAN,
    NEW_NODE,
    build_forest_chart,
    build_heat_map,
    find_results,
    fleet_means,
)
from iostudy_fleet.report.text import can_find_odd, describe_odd, format_change, format_verdict
from iostudy_fleet.report.values import (
    BaselineSpread,
    ClassReport,
    FleetComparison,
    FleetReport,
    Heterogeneity,
    NodeReport,
)

_ODD_NOTE = (
    "In a fleet of equal nodes, any node is named with a probability of {risk}. Odd nodes remain "
    "in all means and intervals; leave their folders out to pool the others."
)
_COMPARISON_NOTE = (
    "Mean: over all nodes, from a random-effects model with Hartung and Knapp's interval. New "
    "node: the prediction interval of the true change on another node of this kind. Margin "
    "{margin}; risk {risk} of any wrong verdict on the means. The nodes' own verdicts have that "
    "risk for each node."
)
_SPREAD_NOTE = (
    "tau: standard deviation of the nodes' true figures or changes, without the noise of the "
    "blocks. I²: its share in the variance of what the nodes measured."
)
_CLASS_NOTE = (
    "Nodes are divided by what their ledgers record. Traits that divide the nodes in the same way "
    "cannot be separated. A difference between classes does not show its cause. Changes of "
    "{baseline} itself are against the mean of all nodes. p is adjusted for all classes and "
    "figures."
)


def build_fleet_document(report: FleetReport, pages: Mapping[str, str]) -> Document:
    """Odd nodes, comparisons with forest plots, heat maps, classes and nodes.

    ``pages`` are relative addresses of the nodes' own reports.
    """
    return Document(
        title=report.question,
        notes=(report.headline, *report.caveats),
        sections=tuple(_sections(report, pages)),
    )


def _sections(report: FleetReport, pages: Mapping[str, str]) -> Iterator[Section]:
    if any(node.odd for node in report.nodes):
        yield _odd_nodes(report, pages)
    if report.comparisons:
        yield _comparisons(report)
    for number, baseline in enumerate(report.baselines, 1):
        yield _heat_map(number, baseline, report)
    if report.baselines:
        yield _baselines(report)
    if report.classes:
        yield _classes(report)
    yield _nodes(report, pages)


def _odd_nodes(report: FleetReport, pages: Mapping[str, str]) -> Section:
    rows = [
        (node.node, _p(odd.p_value), describe_odd(odd, report.baseline))
        for node in report.nodes
        for odd in node.odd
    ]
    return Section(
        name="odd-nodes",
        title="Odd nodes",
        notes=(_ODD_NOTE.format(risk=format_percent(report.risk)),),
        tables=(
            TextTable(
                "", ("node", "p", "finding"), rows, names=1, words=1, links=_links(rows, pages)
            ),
        ),
    )


def _links(rows: Sequence[tuple[str, ...]], pages: Mapping[str, str]) -> tuple[str, ...]:
    """The pages of rows that begin with the name of a node."""
    return tuple(pages.get(row[0], "") for row in rows)


def _p(p_value: float) -> str:
    return "< 0.0001" if p_value < 1e-4 else f"{p_value:.4f}"


def _comparisons(report: FleetReport) -> Section:
    margin = format_percent(report.margin)
    rows = [row for comparison in report.comparisons for row in _change_rows(comparison)]
    heads = ("workload", "configuration", "estimate", "change", "verdict")
    spread_heads = (*heads[:2], "nodes", "tau, % [95 %]", "I², %", "verdicts of nodes")
    spread = [_spread_row(comparison) for comparison in report.comparisons]
    return Section(
        name="comparisons",
        title=f"Changes against {report.baseline}",
        notes=(_COMPARISON_NOTE.format(margin=margin, risk=format_percent(report.risk)),),
        leading_tables=(TextTable("", heads, rows, names=3, words=2),),
        draw=lambda: list(
            filter(
                None, (build_forest_chart(comparison, report) for comparison in report.comparisons)
            )
        ),
        tables=(TextTable("Differences between nodes", spread_heads, spread, names=2, words=1),),
    )


def _spread(spread: Heterogeneity) -> tuple[str, str]:
    interval = format_interval(spread.tau_interval).replace("+", "")
    return f"{100 * spread.tau:.1f} {interval}", f"{100 * spread.i_squared:.0f}"


def _change_rows(comparison: FleetComparison) -> Iterator[tuple[str, ...]]:
    for name, difference in ((MEAN, comparison.mean), (NEW_NODE, comparison.new_node)):
        change, verdict = format_change(difference), format_verdict(difference)
        yield comparison.workload, comparison.configuration, name, change, verdict


def _spread_row(comparison: FleetComparison) -> tuple[str, ...]:
    counts = ((comparison.verdicts[verdict], verdict) for verdict in Verdict)
    verdicts = ", ".join(f"{count} {verdict}" for count, verdict in counts if count)
    head = (comparison.workload, comparison.configuration, str(comparison.nodes))
    return (*head, *_spread(comparison.heterogeneity), verdicts)


def _heat_map(number: int, baseline: BaselineSpread, report: FleetReport) -> Section:
    means = fleet_means(baseline.workload, report)
    rows = [
        (node.node, *(_figure(node, baseline.workload, label) for label in means))
        for node in report.nodes
    ]
    mean = (MEAN, *(format_figure(value) for value in means.values()))
    table = TextTable(
        f"{baseline.figure.name}, {baseline.figure.unit}", ("node", *means), [*rows, mean], names=1
    )
    return Section(
        name=f"figures-{number}",
        title=f"{baseline.workload} by node",
        draw=lambda: list(filter(None, (build_heat_map(baseline, report),))),
        tables=(table,),
    )


def _figure(node: NodeReport, workload: str, label: str) -> str:
    results = find_results(node, workload, label)
    return format_figure(results[0].value) if results else UNKNOWN


def _baselines(report: FleetReport) -> Section:
    heads = ("workload", "figure", "mean of nodes", "nodes", "tau, % [95 %]", "I², %")
    rows = [
        (
            baseline.workload,
            baseline.figure.name,
            f"{format_figure(baseline.value)} {baseline.figure.unit}",
            str(baseline.nodes),
            *_spread(baseline.heterogeneity),
        )
        for baseline in report.baselines
    ]
    return Section(
        name="baselines",
        title=f"The baseline {report.baseline} over nodes",
        notes=(_SPREAD_NOTE,),
        tables=(TextTable("", heads, rows, names=2),),
    )


def _classes(report: FleetReport) -> Section:
    heads = ("workload", "configuration", "class", "nodes", "change", "p")
    rows = [row for group in report.classes for row in _class_rows(group)]
    return Section(
        name="classes",
        title="Classes of nodes that differ",
        notes=(_CLASS_NOTE.format(baseline=report.baseline),),
        tables=(TextTable("", heads, rows, names=3),),
    )


def _class_rows(classes: ClassReport) -> Iterator[tuple[str, ...]]:
    for group in classes.classes:
        yield (
            classes.workload,
            classes.configuration,
            f"{', '.join(classes.traits)}: {group.label}",
            str(len(group.nodes)),
            format_change_interval(group.change, group.interval),
            _p(classes.p_value),
        )


def _nodes(report: FleetReport, pages: Mapping[str, str]) -> Section:
    none = UNKNOWN if can_find_odd(report.nodes) else "not tested"
    traits = list(dict.fromkeys(name for node in report.nodes for name in node.traits))
    rows = [
        (
            node.node,
            format_count(len(node.odd), "finding") if node.odd else none,
            "yes" if node.finished else "no",
            format_time(node.started_at),
            *(node.traits.get(name, UNKNOWN) for name in traits),
            node.place,
        )
        for node in report.nodes
    ]
    heads = ("node", "odd", "finished", "started", *traits, "folder")
    table = TextTable("", heads, rows, names=1, words=len(heads) - 1, links=_links(rows, pages))
    return Section(
        name="nodes",
        title="Nodes",
        notes=("Each folder has the node's own report.",),
        tables=(table,),
    )
