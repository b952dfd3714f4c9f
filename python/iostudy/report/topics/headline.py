"""Answer of a study in one sentence over all workloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iostudy import units
from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import format_count, is_feasible_extension, join_words
from iostudy.report.topics.sentences import AnswerContext
from iostudy.report.topics.verdicts import (
    FigureVerdicts,
    Result,
    format_change,
    format_change_size,
    list_verdicts,
)
from iostudy.units import is_ratio

if TYPE_CHECKING:
    from iostudy.report.values import WorkloadReport

_ELAPSED = "exec_time"
_MOST_NAMED = 3
"""More workloads or configurations than these are counted."""


_OPENINGS = ("no ", "the comparison ", "all comparisons ")
"""Words that start a sentence with a capital letter; labels keep theirs."""


@dataclass(frozen=True)
class _Whole:
    """All comparisons of a study that are about a choice, by figure and by configuration.

    ``noun`` is what differs between the figures: workloads, or else figures.
    """

    topic: AnswerContext
    baseline: str
    noun: str
    by_figure: dict[str, tuple[Result, ...]]
    by_configuration: dict[str, dict[str, Result]]
    explanation: str
    disturbance: str
    candidates: Sequence[str]

    @property
    def comparisons(self) -> list[Result]:
        """Every one of them."""
        return [result for results in self.by_figure.values() for result in results]

    @property
    def rivals(self) -> list[str]:
        """Other configurations that meet the goal."""
        return [label for label in self.candidates[1:] if label in self.by_configuration]

    @property
    def undecided(self) -> list[Result]:
        """Comparisons without a verdict."""
        return [r for r in self.comparisons if r.is_open]

    @property
    def fragile(self) -> int:
        """Number of verdicts that Student's t would change."""
        return sum(r.fragile for r in self.comparisons if not r.is_open)

    @property
    def is_under_way(self) -> bool:
        """Whether another block may still decide one of them."""
        return not all(result.has_ended(self.topic.max_blocks) for result in self.comparisons)

    @property
    def harmless(self) -> list[str]:
        """The configurations that are equivalent or not worse everywhere."""
        no_harm = (Verdict.EQUIVALENT, Verdict.NOT_WORSE)
        return [
            label
            for label, own in self.by_configuration.items()
            if all(result.verdict in no_harm for result in own.values())
        ]

    def with_verdict(self, verdict: Verdict) -> list[str]:
        """The configurations that have it anywhere."""
        return [
            label
            for label, own in self.by_configuration.items()
            if any(result.verdict is verdict for result in own.values())
        ]


def build_headline(
    workloads: Sequence[WorkloadReport],
    topic: AnswerContext,
    candidates: Sequence[str],
    explanation: str = "",
    disturbance: str = "",
) -> str:
    """Who wins, or that nothing differs, or that nothing could be decided and what it would take.

    ``candidates`` meet the goal of the study as far as it has come, the best first;
    ``explanation`` says why nothing differs, and ``disturbance`` what disturbed the workloads
    without a verdict, where that is known.
    """
    verdicts = list_verdicts(workloads)
    whole = _whole(verdicts, topic, explanation, disturbance, candidates)
    if not any(result.blocks for each in verdicts for result in each.results):
        return "No data: no block has finished."
    if not whole.comparisons:
        alone = f"{whole.baseline} was measured alone"
        return f"{alone}: there is no other {topic.noun} to compare it with."
    if time := _elapsed_time(whole, verdicts):
        said = time
    elif candidates:
        said = _won(whole, candidates[0])
    elif better := whole.with_verdict(Verdict.BETTER):
        said = _divided(whole, better)
    elif worse := whole.with_verdict(Verdict.WORSE):
        said = _only_worse(whole, worse)
    else:
        said = _none_differs(whole)
    return f"{_opened(said, whole)}{_fragile(whole)}."


def _opened(said: str, whole: _Whole) -> str:
    """Capitalize the start of a sentence, except for labels."""
    if whole.is_under_way:
        return f"So far, {said}"
    return f"{said[0].upper()}{said[1:]}" if said.startswith(_OPENINGS) else said


def _whole(
    verdicts: Sequence[FigureVerdicts],
    topic: AnswerContext,
    explanation: str,
    disturbance: str,
    candidates: Sequence[str],
) -> _Whole:
    by_configuration: dict[str, dict[str, Result]] = {}
    for each in verdicts:
        for result in each.choices:
            by_configuration.setdefault(result.configuration, {})[each.name] = result
    return _Whole(
        topic=topic,
        baseline=topic.name(verdicts[0].results[0].configuration),
        noun="figure" if any(each.is_guard for each in verdicts) else "workload",
        by_figure={each.name: each.choices for each in verdicts},
        by_configuration=by_configuration,
        explanation=f": {explanation}" if explanation else "",
        disturbance=disturbance,
        candidates=candidates,
    )


def _elapsed_time(whole: _Whole, verdicts: Sequence[FigureVerdicts]) -> str:
    """``./new takes 24 % less time than ./old [21, 26]``; empty unless one pair differs in time."""
    if len(whole.comparisons) != 1 or verdicts[0].figure.name != _ELAPSED:
        return ""
    (result,) = whole.comparisons
    differs = result.verdict in (Verdict.BETTER, Verdict.WORSE)
    if not differs or not _has_difference(result):
        return ""
    size, _, interval = format_change_size(result).partition(" [")
    less = "less" if result.verdict is Verdict.BETTER else "more"
    name = whole.topic.name(result.configuration)
    return f"{name} takes {size} {less} time than {whole.baseline} [{interval}"


def _won(whole: _Whole, winner: str) -> str:
    """``kyber is better than none: by 8.5 % [4.8, 12.3] on writes, and no worse ...``.

    That one of several is the best of them is no verdict, but what their estimates say.
    """
    own = whole.by_configuration[winner]
    better = [name for name, result in own.items() if result.verdict is Verdict.BETTER]
    who = f"{whole.topic.name(winner)} is better than {whole.baseline}:"
    if whole.rivals:
        who = f"{_several([winner, *whole.rivals], whole)} are better than {whole.baseline}; "
        who += f"{whole.topic.name(winner)}, with the highest estimate,"
    rest = [name for name in own if name not in better]
    more = f", and {_no_worse(own, rest, whole)}" if rest else ""
    better = better or list(own)
    return f"{who} {_describe_gains(own, better, whole)}{more}"


def _describe_gains(results: dict[str, Result], better: Sequence[str], whole: _Whole) -> str:
    if len(better) > _MOST_NAMED:
        return f"on {len(better)} of {len(results)} {whole.noun}s"
    if len(results) == 1:
        return _size(results[better[0]])
    return join_words([f"{_size(results[name])} on {name}" for name in better])


def _size(result: Result) -> str:
    """A difference is one by percent; a ratio to the baseline is not a difference."""
    size = format_change_size(result)
    return f"by {size}" if _has_difference(result) else size


def _has_difference(result: Result) -> bool:
    return None not in (result.change, result.interval) and not is_ratio(result.change or 0.0)


def _no_worse(results: dict[str, Result], rest: Sequence[str], whole: _Whole) -> str:
    shown = [name for name in rest if results[name].not_worse]
    open_ = [name for name in rest if not results[name].not_worse]
    clauses = []
    if shown and all(results[name].verdict is Verdict.EQUIVALENT for name in shown):
        clauses.append(f"equivalent within {_margin(whole)} on {_rest(shown)}")
    elif shown:
        clauses.append(f"not worse by {_margin(whole)} on {_rest(shown)}")
    if open_:
        clauses.append(f"without a required verdict on {_rest(open_)}")
    return " and ".join(clauses)


def _rest(names: Sequence[str]) -> str:
    return join_words(names) if len(names) <= _MOST_NAMED else f"the other {len(names)}"


def _divided(whole: _Whole, better: Sequence[str]) -> str:
    """None of those that are better somewhere is shown to be harmless elsewhere."""
    own = whole.by_configuration[better[0]]
    up, down = (
        [name for name, result in own.items() if result.verdict is verdict]
        for verdict in (Verdict.BETTER, Verdict.WORSE)
    )
    left = len(better) - 1
    more = f", and {left} more {'differs' if left == 1 else 'differ'} by workload" if left else ""
    name = whole.topic.name(better[0])
    if not down:
        rest = _places([label for label in own if label not in up], whole)
        return (
            f"no {whole.topic.noun} meets the goal: {name} is better than {whole.baseline} on "
            f"{_places(up, whole)}, and not shown to be harmless on {rest}{more}"
            f"{_still_open(whole)}"
        )
    return (
        f"no {whole.topic.noun} is better on all {whole.noun}s: {name} is better than "
        f"{whole.baseline} on {_places(up, whole)}, and worse on {_places(down, whole)}{more}"
    )


def _only_worse(whole: _Whole, worse: Sequence[str]) -> str:
    noun, verb = whole.topic.noun, "is" if len(worse) == 1 else "are"
    who = f"{_several(worse, whole)} {verb} worse than {whole.baseline}"
    if len(whole.by_configuration) == 1:
        return f"{who}: {_describe_losses(whole, worse[0])}{_still_open(whole)}"
    sizes = f": {_describe_losses(whole, worse[0])}" if len(worse) == 1 else ""
    return f"no {noun} is shown to be better, and {who}{sizes}{_still_open(whole)}"


def _describe_losses(whole: _Whole, label: str) -> str:
    own = whole.by_configuration[label]
    return _describe_gains(own, [n for n, r in own.items() if r.verdict is Verdict.WORSE], whole)


def _none_differs(whole: _Whole) -> str:
    open_, all_ = whole.undecided, whole.comparisons
    if all(result.verdict is Verdict.EQUIVALENT for result in all_):
        (*_, last), several = whole.by_configuration, len(whole.by_configuration) > 1
        who = (
            f"no {whole.topic.noun} differs"
            if several
            else f"{whole.topic.name(last)} does not differ"
        )
        where = f" on any {whole.noun}" if len(whole.by_figure) > 1 else ""
        differs = f"{who} from {whole.baseline} by more than {_margin(whole)}{where}"
        return f"{differs}{whole.explanation}"
    if harmless := whole.harmless:
        verb = "is" if len(harmless) == 1 else "are"
        where = f" on any {whole.noun}" if len(whole.by_figure) > 1 else ""
        size = ""
        if len(all_) == 1 and all_[0].interval is not None:
            size = f": {format_change(all_[0])}"
        return (
            f"{_several(harmless, whole)} {verb} not worse than {whole.baseline} by "
            f"{_margin(whole)}{where}{size}{_still_open(whole)}"
        )
    if len(open_) < len(all_):
        return f"no {whole.topic.noun} is shown to differ from {whole.baseline}{_still_open(whole)}"
    noun, verb = ("the comparison", "is") if len(open_) == 1 else ("all comparisons", "are")
    state = "still open" if whole.is_under_way else "inconclusive"
    return f"{noun} with {whole.baseline} {verb} {state} after {_blocks(open_)}{_takes(whole)}"


def _still_open(whole: _Whole) -> str:
    open_, all_ = whole.undecided, whole.comparisons
    if not open_:
        return ""
    of = f"{len(open_)} of {format_count(len(all_), 'comparison')}"
    verb = "is" if len(open_) == 1 else "are"
    return f"; {of} {verb} {'open' if whole.is_under_way else 'inconclusive'}{_takes(whole)}"


def _takes(whole: _Whole) -> str:
    """Return what disturbed, and ``about 55 blocks are needed``; empty unless one is known."""
    parts = [whole.disturbance] if whole.disturbance else []
    needed = [result.blocks_needed for result in whole.undecided]
    known = [number for number in needed if number is not None]
    if len(known) == len(needed):
        is_feasible = is_feasible_extension(max(known), whole.topic.max_blocks)
        blocks = f"about {max(known)} blocks are needed"
        parts.append(blocks if is_feasible else "more blocks alone are unlikely to decide")
    return f": {', and '.join(parts)}" if parts else ""


def _fragile(whole: _Whole) -> str:
    """Return the clause on verdicts that Student's t does not give."""
    decided = len(whole.comparisons) - len(whole.undecided)
    if not whole.fragile:
        return ""
    verb = "is" if whole.fragile == 1 else "are"
    return f"; {whole.fragile} of {format_count(decided, 'verdict')} {verb} fragile"


def _blocks(results: Sequence[Result]) -> str:
    low, high = (end(result.blocks for result in results) for end in (min, max))
    return format_count(high, "block") if low == high else f"{low} to {high} blocks"


def _several(labels: Sequence[str], whole: _Whole) -> str:
    if len(labels) <= _MOST_NAMED:
        return join_words([whole.topic.name(label) for label in labels])
    return f"{len(labels)} {whole.topic.noun}s"


def _places(names: Sequence[str], whole: _Whole) -> str:
    if len(names) <= _MOST_NAMED:
        return join_words(names)
    return format_count(len(names), whole.noun)


def _margin(whole: _Whole) -> str:
    return units.format_percent(whole.topic.margin)
