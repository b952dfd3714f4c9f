"""The sentences a person wants: what the verdicts say of each workload, no more and no less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from iostudy import units
from iostudy.analysis.verdict import Verdict
from iostudy.report import wording
from iostudy.report.values.base import FigureTold
from iostudy.report.values.ranking import CrossingTold
from iostudy.report.values.results import Result, WorkloadTold
from iostudy.study.combinations import Factor

_NOUNS = {"block.scheduler": "scheduler"}
_ORDER = (Verdict.BETTER, Verdict.WORSE, Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)

_WORDS = ("none", "all", "on", "off", "true", "false")
"""Labels that a sentence has as words of its own: nothing is better than none."""

_MOST_NAMED = 3
"""More configurations, or pairs of them, than these are counted."""


@dataclass(frozen=True)
class Topic:
    """What the sentences of a study have in common: what varies, and what decides."""

    noun: str
    margin: float
    max_blocks: int


def noun_of(factors: Sequence[Factor]) -> str:
    """What varies, in a word that can follow "no": ``scheduler``, ``direct value``."""
    if len(factors) != 1:
        return "configuration"
    name = factors[0].name
    return _NOUNS.get(name, f"{name.rpartition('.')[2]} value")


def predicate(results: Sequence[Result], figure: FigureTold, topic: Topic) -> str:
    """What there is to say of one workload; ``results`` begin with the baseline."""
    baseline, others = results[0], results[1:]
    if not any(result.blocks for result in results):
        return "nothing can be said: no block was finished"
    if not others:
        return _alone(baseline, figure, topic)
    if all(result.verdict is Verdict.EQUIVALENT for result in others):
        return _all_equivalent(baseline, others, topic)
    if len(others) > 1 and _is_all_open(results):
        return _nothing_decided(baseline, others, topic)
    clauses = [clause for verdict in _ORDER for clause in _clauses(verdict, others, figure, topic)]
    return f"compared with {_called(baseline)}: {'; '.join(clauses)}"


def of_ranking(
    noun: str,
    workloads: Sequence[str],
    best: Sequence[str],
    labels: Sequence[str],
    crossings: Sequence[CrossingTold],
) -> str:
    """The best of all ``labels`` on all workloads together.

    ``crossings`` are those that leave no single order.
    """
    together = "both" if len(workloads) == 2 else f"all {len(workloads)}"
    where = f"On {workloads[0]}" if len(workloads) == 1 else f"Over {together} workloads"
    if crossings:
        return f"No single {noun} is best: {change_of_places(crossings)}."
    if len(best) == len(labels):
        return f"{where}, no {noun} is shown to be better than another."
    if len(best) == 1:
        return f"{where}, the best {noun} is {quoted(best[0])}."
    told = f"one of {len(best)}"
    if len(best) <= _MOST_NAMED:
        told = wording.joined([quoted(label) for label in best], "or")
    behind = len(labels) - len(best)
    others = "the other is" if behind == 1 else f"the other {behind} are"
    return f"{where}, the best {noun} is {told}; {others} worse."


def change_of_places(crossings: Sequence[CrossingTold]) -> str:
    """Pairs that change places: ``kyber is better than bfq on writes, and worse on reads``."""
    left = len(crossings) - _MOST_NAMED
    more = [f"{wording.counted(left, 'more pair')} besides"] if left > 0 else []
    return "; ".join([*map(_crossed, crossings[:_MOST_NAMED]), *more])


def _crossed(crossing: CrossingTold) -> str:
    first, second = quoted(crossing.configuration), quoted(crossing.other)
    better, worse = (wording.joined(names) for names in (crossing.better_on, crossing.worse_on))
    return f"{first} is better than {second} on {better}, and worse on {worse}"


def of_workloads(workloads: Sequence[WorkloadTold], topic: Topic) -> tuple[str, ...]:
    """A sentence for each workload; those of which the same holds, or nothing yet, share one."""
    open_ = [told for told in workloads if len(told.results) > 1 and _is_all_open(told.results)]
    said = {
        told.label: predicate(told.results, told.figure, topic)
        for told in workloads
        if len(open_) < 2 or told not in open_
    }
    if len(open_) < 2:
        return sentences(said)
    others = [result for told in open_ for result in told.results[1:]]
    undecided = _nothing_decided(open_[0].results[0], others, topic)
    return (*sentences(said), *sentences({told.label: undecided for told in open_}))


def sentences(predicates: Mapping[str, str]) -> tuple[str, ...]:
    """Workload -> predicate as sentences; workloads of which the same holds share one."""
    sharing: dict[str, list[str]] = {}
    for workload, said in predicates.items():
        sharing.setdefault(said, []).append(workload)
    return tuple(f"On {_places(names)}, {said}." for said, names in sharing.items())


def _places(names: Sequence[str]) -> str:
    """Workloads by name, or counted where so many names would hide what is said of them."""
    if len(names) <= 2 * _MOST_NAMED:
        return wording.joined(names)
    return f"{', '.join(names[:_MOST_NAMED])} and {len(names) - _MOST_NAMED} others"


def _alone(baseline: Result, figure: FigureTold, topic: Topic) -> str:
    value = f"{wording.significant(baseline.value)} {figure.unit}"
    blocks = wording.counted(baseline.blocks, "block")
    return (
        f"{_called(baseline)} gives {value} (geometric mean of {blocks}); "
        f"there is no other {topic.noun} to compare it with"
    )


def _all_equivalent(baseline: Result, others: Sequence[Result], topic: Topic) -> str:
    limit = f"from {_called(baseline)} by more than {units.format_percent(topic.margin)}"
    if len(others) == 1:
        said = f"{_called(others[0])} does not differ {limit}"
    else:
        said = f"no {topic.noun} differs {limit}"
    return said + _fragile_among(others)


def _clauses(
    verdict: Verdict, others: Sequence[Result], figure: FigureTold, topic: Topic
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


def _effect(result: Result, figure: FigureTold, topic: Topic) -> str:
    if result.verdict is Verdict.WORSE:
        verb = "costs"
    else:
        verb = "gains" if figure.higher_is_better else "saves"
    said = f"{_called(result)} {verb} {wording.size_of_change(result)}"
    if not result.by_margin:
        said += f", perhaps less than the margin of {units.format_percent(topic.margin)}"
    return said + (" (fragile)" if result.fragile else "")


def _equivalent(chosen: Sequence[Result], topic: Topic) -> str:
    names = wording.joined([_called(result) for result in chosen])
    verb = "does" if len(chosen) == 1 else "do"
    margin = units.format_percent(topic.margin)
    return f"{names} {verb} not differ by more than {margin}{_fragile_among(chosen)}"


def _is_all_open(results: Sequence[Result]) -> bool:
    return all(map(_is_open, results[1:]))


def _is_open(result: Result) -> bool:
    return result.verdict is Verdict.INCONCLUSIVE and result.blocks > 0


def _nothing_decided(baseline: Result, others: Sequence[Result], topic: Topic) -> str:
    blocks, needed = _blocks_of(others), _needed(others, topic)
    if _ended(others, topic):
        return f"nothing could be decided against {_called(baseline)} in {blocks}{needed}"
    return f"nothing is decided yet against {_called(baseline)}, after {blocks}{needed}"


def _undecided(chosen: Sequence[Result], topic: Topic) -> list[str]:
    """Several open comparisons share a clause: the tables tell each one's figures."""
    begun = [result for result in chosen if result.blocks]
    empty = [_called(result) for result in chosen if not result.blocks]
    clauses = [_open(begun, topic)] if begun else []
    if empty:
        verb = "has" if len(empty) == 1 else "have"
        clauses.append(f"{wording.joined(empty)} {verb} no finished block")
    return clauses


def _open(begun: Sequence[Result], topic: Topic) -> str:
    if len(begun) == 1:
        who = f"{_called(begun[0])}{_figure_so_far(begun[0])} is"
    elif len(begun) <= _MOST_NAMED:
        who = f"{wording.joined([_called(result) for result in begun])} are"
    else:
        who = f"{len(begun)} others are"
    blocks, needed = _blocks_of(begun), _needed(begun, topic)
    still = "undecided after" if _ended(begun, topic) else "not decided yet, after"
    return f"{who} {still} {blocks}{needed}"


def _ended(results: Sequence[Result], topic: Topic) -> bool:
    return all(result.blocks >= topic.max_blocks for result in results)


def _blocks_of(results: Sequence[Result]) -> str:
    low, high = (end(result.blocks for result in results) for end in (min, max))
    return wording.counted(high, "block") if low == high else f"{low} to {high} blocks"


def _needed(results: Sequence[Result], topic: Topic) -> str:
    """`` (about 7 to 55 would probably decide)``; empty while it is not known of each."""
    numbers = [result.blocks_needed for result in results if result.blocks_needed is not None]
    if len(numbers) < len(results):
        return ""
    low = wording.blocks_needed(min(numbers), more="more than ")
    high = wording.blocks_needed(max(numbers), about="", more="more than ")
    told = low if low.endswith(high) else f"{low} to {high}"
    return f" ({told} {'would' if _ended(results, topic) else 'will'} probably decide)"


def _figure_so_far(result: Result) -> str:
    return "" if result.interval is None else f" at {wording.change(result)}"


def _fragile_among(results: Sequence[Result]) -> str:
    names = [_called(result) for result in results if result.fragile]
    return f" ({wording.joined(names)}: fragile)" if names else ""


def _called(result: Result) -> str:
    return f"{quoted(result.configuration)}{' (a bound)' if result.bound else ''}"


def quoted(label: str) -> str:
    """A label, in quotation marks where it would fall apart in a sentence."""
    apart = " " in label or "," in label or label in _WORDS
    return f"“{label}”" if apart else label
