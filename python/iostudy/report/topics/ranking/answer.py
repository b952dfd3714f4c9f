"""The combined ranking in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.report.formatting import format_count, join_words
from iostudy.report.topics.ranking.values import RankReversal
from iostudy.report.topics.verdicts.answer import MOST_NAMED
from iostudy.report.topics.verdicts.names import name_configuration


def summarize_ranking(
    noun: str,
    workloads: Sequence[str],
    best: Sequence[str],
    labels: Sequence[str],
    crossings: Sequence[RankReversal],
    factor: str = "",
) -> str:
    """The best of all ``labels`` on all workloads together.

    ``crossings`` are those that leave no single order; ``factor`` is the one that varies.
    """
    together = "both" if len(workloads) == 2 else f"all {len(workloads)}"
    where = f"On {workloads[0]}" if len(workloads) == 1 else f"Over {together} workloads"
    if crossings:
        return f"No single {noun} is best: {format_rank_reversals(crossings, factor)}."
    if len(best) == len(labels):
        return f"{where}, no {noun} is shown to be better than another."
    the_best = "the best" if factor and len(best) <= MOST_NAMED else f"the best {noun}"
    if len(best) == 1:
        return f"{where}, {the_best} is {name_configuration(best[0], factor)}."
    text = f"one of {len(best)}"
    if len(best) <= MOST_NAMED:
        text = join_words([name_configuration(label, factor) for label in best], "or")
    behind = len(labels) - len(best)
    others = "the other is" if behind == 1 else f"the other {behind} are"
    return f"{where}, {the_best} is {text}; {others} worse."


def format_rank_reversals(crossings: Sequence[RankReversal], factor: str = "") -> str:
    """Pairs that change places: ``kyber is better than bfq on writes, and worse on reads``."""
    left = len(crossings) - MOST_NAMED
    more = [f"{format_count(left, 'more pair')}"] if left > 0 else []
    return "; ".join([*(_crossed(each, factor) for each in crossings[:MOST_NAMED]), *more])


def _crossed(crossing: RankReversal, factor: str) -> str:
    first = name_configuration(crossing.configuration, factor)
    second = name_configuration(crossing.other, factor)
    better, worse = (join_words(names) for names in (crossing.better_on, crossing.worse_on))
    return f"{first} is better than {second} on {better}, and worse on {worse}"
