"""Headline, caveats and phrases of the report on a fleet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import (
    format_change_interval,
    format_count,
    format_signed_change,
    join_words,
)
from iostudy.report.topics.verdicts import Result
from iostudy_fleet.pooling import LEAST_NODES
from iostudy_fleet.report.values import (
    FleetComparison,
    FleetDifference,
    NodeReport,
    NodeResult,
    OddFinding,
)

_MOST_NAMED = 3
"""More nodes than these are counted."""
_FEW_NODES = 5
"""Fewer nodes hardly show how much nodes differ: t has at most 3 degrees of freedom."""


def build_headline(
    comparisons: Sequence[FleetComparison], nodes: Sequence[NodeReport], baseline: str
) -> str:
    """Answer in one or two sentences: the comparisons, then the odd nodes."""
    odd = [node.node for node in nodes if node.odd]
    parts = (_answer(comparisons, nodes, baseline), _name_odd_nodes(odd))
    return " ".join(part for part in parts if part)


def _answer(
    comparisons: Sequence[FleetComparison], nodes: Sequence[NodeReport], baseline: str
) -> str:
    if not comparisons:
        return f"No comparison: {_explain_none(nodes)}."
    if len(comparisons) == 1:
        (only,) = comparisons
        return (
            f"On {only.nodes} nodes, {only.configuration} {_predicate(only.mean)} {baseline}: "
            f"{format_change(only.mean)}; on one more node "
            f"{format_change(only.new_node)}."
        )
    counts = (
        (sum(comparison.mean.verdict is verdict for comparison in comparisons), verdict)
        for verdict in Verdict
    )
    verdicts = join_words([f"{count} {verdict}" for count, verdict in counts if count])
    return f"Of {len(comparisons)} comparisons on {len(nodes)} nodes: {verdicts}."


def _explain_none(nodes: Sequence[NodeReport]) -> str:
    """Explain why no effect was measured on two nodes; caveats name what failed or was refused."""
    begun = sum(any(map(_has_blocks, node.workloads)) for node in nodes)
    if begun < LEAST_NODES:
        return f"fewer than two of {len(nodes)} nodes have finished a block"
    return (
        f"{begun} of {len(nodes)} nodes have finished a block, but no two of them have a change of "
        "the same configuration"
    )


def _has_blocks(measured: NodeResult) -> bool:
    return any(result.blocks or result.lost_blocks for result in measured.results)


def _predicate(difference: FleetDifference) -> str:
    match difference.verdict:
        case Verdict.BETTER:
            return "is better than"
        case Verdict.WORSE:
            return "is worse than"
        case Verdict.EQUIVALENT:
            return "is equivalent to"
        case Verdict.NOT_WORSE | Verdict.NOT_BETTER:
            return f"is {difference.verdict} by the margin than"
        case Verdict.INCONCLUSIVE:
            return "has no verdict against"
        case _:
            assert_never(difference.verdict)


def _name_odd_nodes(odd: Sequence[str]) -> str:
    return f"{_name_nodes(odd)} {'is' if len(odd) == 1 else 'are'} odd." if odd else ""


def _name_nodes(nodes: Sequence[str]) -> str:
    return join_words(nodes) if len(nodes) <= _MOST_NAMED else format_count(len(nodes), "node")


def format_change(difference: FleetDifference) -> str:
    """A change with its interval."""
    return format_change_interval(difference.change, difference.interval)


def format_verdict(difference: FleetDifference) -> str:
    """The verdict in words."""
    return f"{difference.verdict}{' by ≥ margin' if difference.by_margin else ''}"


def describe_odd(odd: OddFinding, baseline: str) -> str:
    """An odd finding in words."""
    what = "its figure" if odd.configuration == baseline else "its ratio to the baseline"
    return (
        f"{odd.workload}, {odd.configuration}: {what} differs by "
        f"{format_signed_change(odd.change)} from the other nodes"
    )


def explain_caveats(nodes: Sequence[NodeReport], repeated: Sequence[str]) -> Iterator[str]:
    """Explain what limits the conclusions."""
    if repeated:
        yield (
            f"Several folders have the host name {join_words(repeated)}. Sessions of one host show "
            "what holds at other hours of this host, and not on other hosts. If they ran at the "
            "same time, all intervals are too narrow."
        )
    if len(nodes) < _FEW_NODES:
        yield (
            f"{format_count(len(nodes), 'node')} hardly show how much nodes differ: prediction "
            "intervals are wide, and odd nodes may not be found."
        )
    if not can_find_odd(nodes):
        yield "Odd nodes were not tested: no node has two blocks, which would show its noise."
    if unfinished := [node.node for node in nodes if not node.finished]:
        yield f"Unfinished studies: {_name_nodes(unfinished)}. Their finished blocks count."
    for node in nodes:
        for label, reason in node.left_out.items():
            yield f"{node.node} has no {label}: {reason}"
        for workload in node.workloads:
            for result in workload.results:
                if not result.baseline and result.blocks and _is_infinite(result):
                    yield (
                        f"Most runs of {result.configuration} or of the baseline failed on "
                        f"{node.node} ({workload.workload}). They are not pooled."
                    )
    flagged = [node.node for node in nodes if _is_flagged(node)]
    if flagged:
        yield (
            f"Violated assumptions are flagged in the reports of {_name_nodes(flagged)}. "
            "Their figures are pooled."
        )


def can_find_odd(nodes: Sequence[NodeReport]) -> bool:
    """Whether a node has two blocks: without their noise no node can be shown to be odd."""
    results = (r for node in nodes for workload in node.workloads for r in workload.results)
    return any(result.blocks > 1 for result in results)


def _is_infinite(result: Result) -> bool:
    """Whether most pairs have a failed run: the figure is then 0, or its change unknown."""
    return result.change is None or result.change <= -1


def _is_flagged(node: NodeReport) -> bool:
    return any(result.flags for workload in node.workloads for result in workload.results)
