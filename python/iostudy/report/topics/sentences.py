"""Verdicts of each workload in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from iostudy import units
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription
from iostudy.report.formatting import (
    find_single_factor,
    find_study_noun,
    format_blocks_needed,
    format_count,
    format_figure,
    join_words,
    name_configuration,
)
from iostudy.report.topics.verdicts import Result, format_change, format_change_size, list_verdicts
from iostudy.study.model import Study
from iostudy.units import is_ratio

if TYPE_CHECKING:
    from iostudy.report.values import WorkloadReport

_ORDER = (
    Verdict.BETTER,
    Verdict.WORSE,
    Verdict.EQUIVALENT,
    Verdict.NOT_WORSE,
    Verdict.NOT_BETTER,
    Verdict.INCONCLUSIVE,
)

MOST_NAMED = 3
"""More configurations, or pairs of them, than these are counted."""


@dataclass(frozen=True)
class AnswerContext:
    """Common context of a study's sentences: the varied factor and the decision rule."""

    noun: str
    margin: float
    max_blocks: int
    factor: str = ""
    """Name of the factor if labels have only its level, such as ``1024``; otherwise empty."""

    def name(self, label: str) -> str:
        """Name a configuration in a sentence."""
        return name_configuration(label, self.factor)


def build_context(study: Study) -> AnswerContext:
    """Return the context of a study's sentences."""
    decide = study.decide
    return AnswerContext(
        noun=find_study_noun(study),
        margin=decide.margin,
        max_blocks=decide.max_blocks,
        factor=find_single_factor(study),
    )


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
    return f"compared with {_called(baseline, topic)}: {'; '.join(clauses)}"


def summarize_workloads(
    workloads: Sequence[WorkloadReport], topic: AnswerContext
) -> tuple[str, ...]:
    """A sentence for each figure; those of which the same holds, or nothing yet, share one."""
    verdicts = list_verdicts(workloads)
    open_ = [each for each in verdicts if len(each.results) > 1 and _is_all_open(each.results)]
    said = {
        each.name: build_predicate(each.results, each.figure, topic)
        for each in verdicts
        if len(open_) < 2 or each not in open_
    }
    if len(open_) < 2:
        return build_sentences(said)
    others = [result for each in open_ for result in each.results[1:]]
    undecided = _nothing_decided(open_[0].results[0], others, topic)
    return (
        *build_sentences(said),
        *build_sentences({each.name: undecided for each in open_}),
    )


def build_sentences(predicates: Mapping[str, str]) -> tuple[str, ...]:
    """Workload -> predicate as sentences; workloads of which the same holds share one."""
    sharing: dict[str, list[str]] = {}
    for workload, said in predicates.items():
        sharing.setdefault(said, []).append(workload)
    return tuple(f"On {_places(names)}, {said}." for said, names in sharing.items())


def _places(names: Sequence[str]) -> str:
    """Name the workloads, or count them if their names would hide the sentence."""
    if len(names) <= 2 * MOST_NAMED:
        return join_words(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"


def _alone(baseline: Result, figure: FigureDescription, topic: AnswerContext) -> str:
    value = f"{format_figure(baseline.value)} {figure.unit}"
    blocks = format_count(baseline.blocks, "block")
    return (
        f"{_called(baseline, topic)} gives {value} (geometric mean of {blocks}); "
        f"there is no other {topic.noun} to compare it with"
    )


def _all_equivalent(baseline: Result, others: Sequence[Result], topic: AnswerContext) -> str:
    limit = f"from {_called(baseline, topic)} by more than {units.format_percent(topic.margin)}"
    if len(others) == 1:
        said = f"{_called(others[0], topic)} does not differ {limit}"
    else:
        said = f"no {topic.noun} differs {limit}"
    return said + _fragile_among(others, topic)


def _clauses(
    verdict: Verdict, others: Sequence[Result], figure: FigureDescription, topic: AnswerContext
) -> list[str]:
    """Yield the sentences about the configurations with this verdict."""
    chosen = [result for result in others if result.verdict is verdict]
    match verdict:
        case Verdict.BETTER | Verdict.WORSE:
            return [_effect(result, figure, topic) for result in chosen]
        case Verdict.EQUIVALENT:
            return [_equivalent(chosen, topic)] if chosen else []
        case Verdict.NOT_WORSE | Verdict.NOT_BETTER:
            return [_one_sided(verdict, chosen, topic)] if chosen else []
        case Verdict.INCONCLUSIVE:
            return _undecided(chosen, topic)
        case _:
            assert_never(verdict)


def _effect(result: Result, figure: FigureDescription, topic: AnswerContext) -> str:
    change = format_change_size(result)
    if result.change is None or result.interval is None:
        effect = f"is {result.verdict}: {change}"
    elif is_ratio(result.change):
        effect = f"has {change} the value"
    elif result.verdict is Verdict.WORSE:
        effect = f"costs {change}"
    else:
        effect = f"{'gains' if figure.higher_is_better else 'saves'} {change}"
    said = f"{_called(result, topic)} {effect}"
    if not result.by_margin:
        said += f", perhaps less than the margin of {units.format_percent(topic.margin)}"
    return said + (" (fragile)" if result.fragile else "")


def _equivalent(chosen: Sequence[Result], topic: AnswerContext) -> str:
    names = join_words([_called(result, topic) for result in chosen])
    verb = "does" if len(chosen) == 1 else "do"
    margin = units.format_percent(topic.margin)
    return f"{names} {verb} not differ by more than {margin}{_fragile_among(chosen, topic)}"


def _one_sided(verdict: Verdict, chosen: Sequence[Result], topic: AnswerContext) -> str:
    """``bfq at +1.2 % [-3.0, +5.5] is not worse by 5 %``."""
    names = [f"{_called(result, topic)}{_figure_so_far(result)}" for result in chosen]
    if len(chosen) > MOST_NAMED:
        names = [f"{len(chosen)} others"]
    verb = "is" if len(chosen) == 1 else "are"
    margin = units.format_percent(topic.margin)
    return f"{join_words(names)} {verb} {verdict} by {margin}{_fragile_among(chosen, topic)}"


def _is_all_open(results: Sequence[Result]) -> bool:
    return all(map(_is_open, results[1:]))


def _is_open(result: Result) -> bool:
    return result.verdict is Verdict.INCONCLUSIVE and result.blocks > 0


def _nothing_decided(baseline: Result, others: Sequence[Result], topic: AnswerContext) -> str:
    blocks, needed = _blocks_of(others), _needed(others)
    what = "the comparison" if len(others) == 1 else "all comparisons"
    verb = "is" if len(others) == 1 else "are"
    state = "inconclusive" if _ended(others, topic) else "still open"
    return f"{what} with {_called(baseline, topic)} {verb} {state} after {blocks}{needed}"


def _undecided(chosen: Sequence[Result], topic: AnswerContext) -> list[str]:
    """Return one clause for all open comparisons; the tables have their figures."""
    begun = [result for result in chosen if result.blocks]
    empty = [_called(result, topic) for result in chosen if not result.blocks]
    clauses = [_open(begun, topic)] if begun else []
    if empty:
        verb = "has" if len(empty) == 1 else "have"
        clauses.append(f"{join_words(empty)} {verb} no finished block")
    return clauses


def _open(begun: Sequence[Result], topic: AnswerContext) -> str:
    if len(begun) == 1:
        who = f"{_called(begun[0], topic)}{_figure_so_far(begun[0])} is"
    elif len(begun) <= MOST_NAMED:
        who = f"{join_words([_called(result, topic) for result in begun])} are"
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


def _fragile_among(results: Sequence[Result], topic: AnswerContext) -> str:
    names = [_called(result, topic) for result in results if result.fragile]
    return f" ({join_words(names)}: fragile)" if names else ""


def _called(result: Result, topic: AnswerContext) -> str:
    return f"{topic.name(result.configuration)}{' (a bound)' if result.bound else ''}"
