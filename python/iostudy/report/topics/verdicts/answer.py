"""Verdicts of each workload in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from iostudy import units
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription
from iostudy.report.formatting import (
    format_blocks_needed,
    format_change,
    format_change_size,
    format_count,
    format_figure,
    join_words,
)
from iostudy.report.topics.ranking.values import RankReversal
from iostudy.report.topics.verdicts.values import Result, WorkloadReport
from iostudy.study.combinations import Factor

_NOUNS = {"block.scheduler": "scheduler"}
_ORDER = (Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)

_WORDS = ("none", "all", "on", "off", "true", "false")
"""Labels that a sentence has as words of its own: nothing is better than none."""

_MOST_NAMED = 3
"""More configurations, or pairs of them, than these are counted."""


@dataclass(frozen=True)
class AnswerContext:
    """Common context of a study's sentences: the varied factor and the decision rule."""

    noun: str
    margin: float
    max_blocks: int


def find_factor_noun(factors: Sequence[Factor]) -> str:
    """Return the noun of the varied factor, after "no": ``scheduler``, ``direct value``."""
    if len(factors) != 1:
        return "configuration"
    name = factors[0].name
    return _NOUNS.get(name, f"{name.rpartition('.')[2]} value")


def build_predicate(
    results: Sequence[Result], figure: FigureDescription, topic: AnswerContext
) -> str:
    """Return the predicate on one workload; ``results`` begin with the baseline."""
    baseline, others = results[0], results[1:]
    if not any(result.blocks for result in results):
        return "there are no data: no block has finished"
    if not others:
        return _alone(baseline, figure, topic)
    if all(result.verdict is Verdict.EQUIVALENT for result in others):
        return _all_equivalent(baseline, others, topic)
    if len(others) > 1 and _is_all_open(results):
        return _nothing_decided(baseline, others, topic)
    clauses = [clause for verdict in _ORDER for clause in _clauses(verdict, others, figure, topic)]
    return f"compared with {_called(baseline)}: {'; '.join(clauses)}"


def summarize_ranking(
    noun: str,
    workloads: Sequence[str],
    best: Sequence[str],
    labels: Sequence[str],
    crossings: Sequence[RankReversal],
) -> str:
    """The best of all ``labels`` on all workloads together.

    ``crossings`` are those that leave no single order.
    """
    together = "both" if len(workloads) == 2 else f"all {len(workloads)}"
    where = f"On {workloads[0]}" if len(workloads) == 1 else f"Over {together} workloads"
    if crossings:
        return f"No single {noun} is best: {format_rank_reversals(crossings)}."
    if len(best) == len(labels):
        return f"{where}, no {noun} is shown to be better than another."
    if len(best) == 1:
        return f"{where}, the best {noun} is {quote_label(best[0])}."
    text = f"one of {len(best)}"
    if len(best) <= _MOST_NAMED:
        text = join_words([quote_label(label) for label in best], "or")
    behind = len(labels) - len(best)
    others = "the other is" if behind == 1 else f"the other {behind} are"
    return f"{where}, the best {noun} is {text}; {others} worse."


def format_rank_reversals(crossings: Sequence[RankReversal]) -> str:
    """Pairs that change places: ``kyber is better than bfq on writes, and worse on reads``."""
    left = len(crossings) - _MOST_NAMED
    more = [f"{format_count(left, 'more pair')}"] if left > 0 else []
    return "; ".join([*map(_crossed, crossings[:_MOST_NAMED]), *more])


def _crossed(crossing: RankReversal) -> str:
    first, second = quote_label(crossing.configuration), quote_label(crossing.other)
    better, worse = (join_words(names) for names in (crossing.better_on, crossing.worse_on))
    return f"{first} is better than {second} on {better}, and worse on {worse}"


def summarize_workloads(
    workloads: Sequence[WorkloadReport], topic: AnswerContext
) -> tuple[str, ...]:
    """A sentence for each workload; those of which the same holds, or nothing yet, share one."""
    open_ = [
        workload
        for workload in workloads
        if len(workload.results) > 1 and _is_all_open(workload.results)
    ]
    said = {
        workload.label: build_predicate(workload.results, workload.figure, topic)
        for workload in workloads
        if len(open_) < 2 or workload not in open_
    }
    if len(open_) < 2:
        return build_sentences(said)
    others = [result for workload in open_ for result in workload.results[1:]]
    undecided = _nothing_decided(open_[0].results[0], others, topic)
    return (
        *build_sentences(said),
        *build_sentences({workload.label: undecided for workload in open_}),
    )


def build_sentences(predicates: Mapping[str, str]) -> tuple[str, ...]:
    """Workload -> predicate as sentences; workloads of which the same holds share one."""
    sharing: dict[str, list[str]] = {}
    for workload, said in predicates.items():
        sharing.setdefault(said, []).append(workload)
    return tuple(f"On {_places(names)}, {said}." for said, names in sharing.items())


def _places(names: Sequence[str]) -> str:
    """Workloads by name, or counted where so many names would hide what is said of them."""
    if len(names) <= 2 * _MOST_NAMED:
        return join_words(names)
    return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} others"


def _alone(baseline: Result, figure: FigureDescription, topic: AnswerContext) -> str:
    value = f"{format_figure(baseline.value)} {figure.unit}"
    blocks = format_count(baseline.blocks, "block")
    return (
        f"{_called(baseline)} gives {value} (geometric mean of {blocks}); "
        f"there is no other {topic.noun} to compare it with"
    )


def _all_equivalent(baseline: Result, others: Sequence[Result], topic: AnswerContext) -> str:
    limit = f"from {_called(baseline)} by more than {units.format_percent(topic.margin)}"
    if len(others) == 1:
        said = f"{_called(others[0])} does not differ {limit}"
    else:
        said = f"no {topic.noun} differs {limit}"
    return said + _fragile_among(others)


def _clauses(
    verdict: Verdict, others: Sequence[Result], figure: FigureDescription, topic: AnswerContext
) -> list[str]:
    """All that is said of the configurations with this verdict."""
    chosen = [result for result in others if result.verdict is verdict]
    match verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return [_effect(result, figure, topic) for result in chosen]
        case Verdict.EQUIVALENT:
            return [_equivalent(chosen, topic)] if chosen else []
        case Verdict.INCONCLUSIVE:
            return _undecided(chosen, topic)
        case _:
            assert_never(verdict)


def _effect(result: Result, figure: FigureDescription, topic: AnswerContext) -> str:
    if result.verdict is Verdict.WORSE:
        verb = "costs"
    else:
        verb = "gains" if figure.higher_is_better else "saves"
    said = f"{_called(result)} {verb} {format_change_size(result)}"
    if not result.by_margin:
        said += f", perhaps less than the margin of {units.format_percent(topic.margin)}"
    return said + (" (fragile)" if result.fragile else "")


def _equivalent(chosen: Sequence[Result], topic: AnswerContext) -> str:
    names = join_words([_called(result) for result in chosen])
    verb = "does" if len(chosen) == 1 else "do"
    margin = units.format_percent(topic.margin)
    return f"{names} {verb} not differ by more than {margin}{_fragile_among(chosen)}"


def _is_all_open(results: Sequence[Result]) -> bool:
    return all(map(_is_open, results[1:]))


def _is_open(result: Result) -> bool:
    return result.verdict is Verdict.INCONCLUSIVE and result.blocks > 0


def _nothing_decided(baseline: Result, others: Sequence[Result], topic: AnswerContext) -> str:
    blocks, needed = _blocks_of(others), _needed(others)
    what = "the comparison" if len(others) == 1 else "all comparisons"
    verb = "is" if len(others) == 1 else "are"
    state = "inconclusive" if _ended(others, topic) else "still open"
    return f"{what} with {_called(baseline)} {verb} {state} after {blocks}{needed}"


def _undecided(chosen: Sequence[Result], topic: AnswerContext) -> list[str]:
    """Return one clause for all open comparisons; the tables have their figures."""
    begun = [result for result in chosen if result.blocks]
    empty = [_called(result) for result in chosen if not result.blocks]
    clauses = [_open(begun, topic)] if begun else []
    if empty:
        verb = "has" if len(empty) == 1 else "have"
        clauses.append(f"{join_words(empty)} {verb} no finished block")
    return clauses


def _open(begun: Sequence[Result], topic: AnswerContext) -> str:
    if len(begun) == 1:
        who = f"{_called(begun[0])}{_figure_so_far(begun[0])} is"
    elif len(begun) <= _MOST_NAMED:
        who = f"{join_words([_called(result) for result in begun])} are"
    else:
        who = f"{len(begun)} others are"
    blocks, needed = _blocks_of(begun), _needed(begun)
    still = "inconclusive after" if _ended(begun, topic) else "still open after"
    return f"{who} {still} {blocks}{needed}"


def _ended(results: Sequence[Result], topic: AnswerContext) -> bool:
    return all(result.has_ended(topic.max_blocks) for result in results)


def _blocks_of(results: Sequence[Result]) -> str:
    low, high = (end(result.blocks for result in results) for end in (min, max))
    return format_count(high, "block") if low == high else f"{low} to {high} blocks"


def _needed(results: Sequence[Result]) -> str:
    """Format the required blocks, `` (about 7 to 55 needed)``; empty unless known of each."""
    numbers = [result.blocks_needed for result in results if result.blocks_needed is not None]
    if len(numbers) < len(results):
        return ""
    low = format_blocks_needed(min(numbers), more="more than ")
    high = format_blocks_needed(max(numbers), about="", more="more than ")
    text = low if low.endswith(high) else f"{low} to {high}"
    return f" ({text} needed)"


def _figure_so_far(result: Result) -> str:
    return "" if result.interval is None else f" at {format_change(result)}"


def _fragile_among(results: Sequence[Result]) -> str:
    names = [_called(result) for result in results if result.fragile]
    return f" ({join_words(names)}: fragile)" if names else ""


def _called(result: Result) -> str:
    return f"{quote_label(result.configuration)}{' (a bound)' if result.bound else ''}"


def quote_label(label: str) -> str:
    """A label, in quotation marks where it would fall apart in a sentence."""
    apart = " " in label or "," in label or label in _WORDS
    return f"“{label}”" if apart else label
