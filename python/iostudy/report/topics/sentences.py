"""Answer of a study in sentences: one over all workloads, and one for each workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from iostudy.analysis.verdict import Verdict
from iostudy.report.drawing import VERDICT_MARKS
from iostudy.report.formatting import (
    find_single_factor,
    find_study_noun,
    format_blocks_needed,
    format_count,
    format_figure,
    is_feasible_extension,
    join_words,
    name_configuration,
)
from iostudy.report.topics.verdicts import Result, format_change, format_change_size, list_verdicts
from iostudy.study.model import Study
from iostudy.units import format_percent, is_ratio
from iostudy.workloads.definition import Figure

if TYPE_CHECKING:
    from iostudy.report.values import WorkloadReport

MOST_NAMED = 3
"""More workloads, configurations or pairs of them than these are counted."""
_ELAPSED = "exec_time"
_OPENINGS = ("no ", "the comparison ", "all comparisons ")
"""Words that start a sentence with a capital letter; labels keep theirs."""


@dataclass(frozen=True)
class AnswerContext:
    """Common context of a study's sentences: the varied factor and the decision rule.

    ``limit`` is the margin in percent.
    """

    noun: str
    limit: str
    max_blocks: int
    factor: str = ""
    """Name of the factor if labels have only its level, such as ``1024``; otherwise empty."""

    def name(self, label: str) -> str:
        """Name a configuration in a sentence."""
        return name_configuration(label, self.factor)

    def call(self, result: Result) -> str:
        """Name the configuration of a result, and mark a bound."""
        return f"{self.name(result.configuration)}{' (a bound)' if result.bound else ''}"

    def call_all(self, results: Sequence[Result]) -> str:
        """Name the configurations of all results."""
        return join_words([self.call(result) for result in results])

    def have_ended(self, results: Sequence[Result]) -> bool:
        """Return whether no further block can change any of them."""
        return all(result.has_ended(self.max_blocks) for result in results)


def build_context(study: Study) -> AnswerContext:
    """Return the context of a study's sentences."""
    return AnswerContext(
        noun=find_study_noun(study),
        limit=format_percent(study.decide.margin),
        max_blocks=study.decide.max_blocks,
        factor=find_single_factor(study),
    )


def build_predicate(results: Sequence[Result], figure: Figure, topic: AnswerContext) -> str:
    """Return the predicate on one workload; ``results`` begin with the baseline."""
    baseline, others = results[0], results[1:]
    against = topic.call(baseline)
    if not any(result.blocks for result in results):
        return "there are no data: no block has finished"
    if not others:
        return (
            f"{against} gives {format_figure(baseline.value)} {figure.unit} (geometric mean of "
            f"{format_count(baseline.blocks, 'block')}); there is no other {topic.noun} to compare "
            "it with"
        )
    if all(result.verdict is Verdict.EQUIVALENT for result in others):
        one = len(others) == 1
        who = f"{topic.call(others[0])} does not differ" if one else f"no {topic.noun} differs"
        return f"{who} from {against} by more than {topic.limit}{_fragile_among(others, topic)}"
    if len(others) > 1 and _is_all_open(results):
        return _nothing_decided(baseline, others, topic)
    clauses = [c for verdict in VERDICT_MARKS for c in _clauses(verdict, others, figure, topic)]
    return f"compared with {against}: {'; '.join(clauses)}"


def summarize_workloads(
    workloads: Sequence[WorkloadReport], topic: AnswerContext
) -> tuple[str, ...]:
    """A sentence for each figure; those of which the same holds, or nothing yet, share one."""
    verdicts = list_verdicts(workloads)
    open_ = [table for table in verdicts if len(table.results) > 1 and _is_all_open(table.results)]
    if len(open_) < 2:
        open_ = []
    said = {
        table.name: build_predicate(table.results, table.figure, topic)
        for table in verdicts
        if table not in open_
    }
    if open_:
        others = [result for verdicts in open_ for result in verdicts.results[1:]]
        undecided = _nothing_decided(open_[0].results[0], others, topic)
        said |= {verdicts.name: undecided for verdicts in open_}
    return build_sentences(said)


def build_sentences(predicates: Mapping[str, str]) -> tuple[str, ...]:
    """Workload -> predicate as sentences; workloads of which the same holds share one."""
    sharing: dict[str, list[str]] = {}
    for workload, said in predicates.items():
        sharing.setdefault(said, []).append(workload)
    places = {
        # The names of many workloads would hide the sentence.
        said: join_words(names)
        if len(names) <= 2 * MOST_NAMED
        else f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} others"
        for said, names in sharing.items()
    }
    return tuple(f"On {where}, {said}." for said, where in places.items())


def _clauses(
    verdict: Verdict, others: Sequence[Result], figure: Figure, topic: AnswerContext
) -> Iterator[str]:
    """Yield the clauses about the configurations with this verdict."""
    chosen = [result for result in others if result.verdict is verdict]
    if not chosen:
        return
    fragile = _fragile_among(chosen, topic)
    match verdict:
        case Verdict.BETTER | Verdict.WORSE:
            yield from (_effect(result, figure, topic) for result in chosen)
        case Verdict.EQUIVALENT:
            verb = "does" if len(chosen) == 1 else "do"
            yield f"{topic.call_all(chosen)} {verb} not differ by more than {topic.limit}{fragile}"
        case Verdict.NOT_WORSE | Verdict.NOT_BETTER:
            names = join_words([f"{topic.call(r)}{_figure_so_far(r)}" for r in chosen])
            if len(chosen) > MOST_NAMED:
                names = f"{len(chosen)} others"
            yield f"{names} {_be(len(chosen))} {verdict} by {topic.limit}{fragile}"
        case Verdict.INCONCLUSIVE:
            begun = [result for result in chosen if result.blocks]
            if begun:
                who = topic.call_all(begun) if len(begun) <= MOST_NAMED else f"{len(begun)} others"
                so_far = _figure_so_far(begun[0]) if len(begun) == 1 else ""
                yield f"{who}{so_far} {_be(len(begun))} {_state(begun, topic)}"
            if empty := [result for result in chosen if not result.blocks]:
                verb = "has" if len(empty) == 1 else "have"
                yield f"{topic.call_all(empty)} {verb} no finished block"
        case _:
            assert_never(verdict)


def _effect(result: Result, figure: Figure, topic: AnswerContext) -> str:
    change = format_change_size(result)
    if result.change is None or result.interval is None:
        effect = f"is {result.verdict}: {change}"
    elif is_ratio(result.change):
        effect = f"has {change} the value"
    elif result.verdict is Verdict.WORSE:
        effect = f"costs {change}"
    else:
        effect = f"{'gains' if figure.higher_is_better else 'saves'} {change}"
    less = "" if result.by_margin else f", perhaps less than the margin of {topic.limit}"
    return f"{topic.call(result)} {effect}{less}{' (fragile)' if result.fragile else ''}"


def _is_all_open(results: Sequence[Result]) -> bool:
    return all(r.verdict is Verdict.INCONCLUSIVE and r.blocks > 0 for r in results[1:])


def _nothing_decided(baseline: Result, others: Sequence[Result], topic: AnswerContext) -> str:
    what = "the comparison" if len(others) == 1 else "all comparisons"
    state = _state(others, topic)
    return f"{what} with {topic.call(baseline)} {_be(len(others))} {state}"


def _state(results: Sequence[Result], topic: AnswerContext) -> str:
    """Return ``still open after 8 blocks (about 7 to 55 needed)``; the latter if known of each."""
    state = "inconclusive" if topic.have_ended(results) else "still open"
    numbers = [result.blocks_needed for result in results if result.blocks_needed is not None]
    needed = ""
    if len(numbers) == len(results):
        low = format_blocks_needed(min(numbers), more="more than ")
        high = format_blocks_needed(max(numbers), about="", more="more than ")
        needed = f" ({low if low.endswith(high) else f'{low} to {high}'} needed)"
    return f"{state} after {_count_blocks(results)}{needed}"


def _count_blocks(results: Sequence[Result]) -> str:
    low, high = (end(result.blocks for result in results) for end in (min, max))
    return format_count(high, "block") if low == high else f"{low} to {high} blocks"


def _figure_so_far(result: Result) -> str:
    return "" if None in (result.change, result.interval) else f" at {format_change(result)}"


def _fragile_among(results: Sequence[Result], topic: AnswerContext) -> str:
    fragile = [result for result in results if result.fragile]
    return f" ({topic.call_all(fragile)}: fragile)" if fragile else ""


def _be(number: int) -> str:
    return "is" if number == 1 else "are"


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
    if not any(result.blocks for table in verdicts for result in table.results):
        return "No data: no block has finished."
    by_configuration: dict[str, dict[str, Result]] = {}
    for table in verdicts:
        for result in table.choices:
            by_configuration.setdefault(result.configuration, {})[table.name] = result
    whole = _Headline(
        topic=topic,
        baseline=topic.name(verdicts[0].results[0].configuration),
        noun="figure" if any(table.is_guard for table in verdicts) else "workload",
        comparisons=[result for table in verdicts for result in table.choices],
        by_configuration=by_configuration,
        several=len(verdicts) > 1,
        guards=frozenset(table.name for table in verdicts if table.is_guard),
        disturbance=disturbance,
    )
    if not whole.comparisons:
        alone = f"{whole.baseline} was measured alone"
        return f"{alone}: there is no other {topic.noun} to compare it with."
    if time := whole.say_elapsed_time(verdicts[0].figure):
        said = time
    elif candidates:
        said = whole.say_winner(candidates)
    elif better := whole.find(Verdict.BETTER, guards=False):
        said = whole.say_divided(better)
    elif worse := whole.find(Verdict.WORSE):
        said = whole.say_only_worse(worse)
    else:
        said = whole.say_none_differs(explanation)
    if whole.is_under_way:
        said = f"So far, {said}"
    elif said.startswith(_OPENINGS):
        said = f"{said[0].upper()}{said[1:]}"
    if fragile := sum(result.fragile for result in whole.comparisons if not result.is_open):
        decided = format_count(len(whole.comparisons) - len(whole.undecided), "verdict")
        said += f"; {fragile} of {decided} {_be(fragile)} fragile"
    return f"{said}."


@dataclass(frozen=True)
class _Headline:
    """All comparisons of a study that are about a choice, also by configuration and figure.

    ``noun`` is what differs between the figures: workloads, or else figures.
    """

    topic: AnswerContext
    baseline: str
    noun: str
    comparisons: Sequence[Result]
    by_configuration: dict[str, dict[str, Result]]
    several: bool
    guards: frozenset[str]
    disturbance: str

    @property
    def undecided(self) -> list[Result]:
        """Comparisons without a verdict."""
        return [r for r in self.comparisons if r.is_open]

    @property
    def is_under_way(self) -> bool:
        """Whether another block may still decide one of them."""
        return not self.topic.have_ended(self.comparisons)

    def find(self, *verdicts: Verdict, everywhere: bool = False, guards: bool = True) -> list[str]:
        """Return the configurations that have one of the verdicts anywhere, or everywhere."""
        holds = all if everywhere else any
        left_out = frozenset() if guards else self.guards
        return [
            label
            for label, results in self.by_configuration.items()
            if holds(r.verdict in verdicts for name, r in results.items() if name not in left_out)
        ]

    def say_elapsed_time(self, figure: Figure) -> str:
        """``./new takes 24 % less time than ./old [21, 26]``; empty but for a pair that differs."""
        if len(self.comparisons) != 1 or figure.name != _ELAPSED:
            return ""
        (result,) = self.comparisons
        if result.verdict not in (Verdict.BETTER, Verdict.WORSE) or not _has_difference(result):
            return ""
        size, _, interval = format_change_size(result).partition(" [")
        less = "less" if result.verdict is Verdict.BETTER else "more"
        name = self.topic.name(result.configuration)
        return f"{name} takes {size} {less} time than {self.baseline} [{interval}"

    def say_winner(self, candidates: Sequence[str]) -> str:
        """``kyber is better than none: by 8.5 % [4.8, 12.3] on writes, and no worse ...``.

        That one of several is the best of them is no verdict, but what their estimates say.
        """
        winner = candidates[0]
        results = self.by_configuration[winner]
        better = [name for name, result in results.items() if result.verdict is Verdict.BETTER]
        if not better:
            changes = [f"{format_change(result)} on {name}" for name, result in results.items()]
            against = f"{join_words(changes)} against {self.baseline}"
            level = "these intervals have the level of all verdicts, which is stricter"
            return f"{self.topic.name(winner)} meets the goal of the study: {against} ({level})"
        who = f"{self.topic.name(winner)} is better than {self.baseline}:"
        if rivals := [label for label in candidates[1:] if label in self.by_configuration]:
            who = f"{self._name([winner, *rivals])} are better than {self.baseline}; "
            who += f"{self.topic.name(winner)}, with the highest estimate,"
        lost = [name for name, result in results.items() if result.verdict is Verdict.WORSE]
        rest = [name for name in results if name not in {*better, *lost}]
        clauses = []
        if shown := [name for name in rest if results[name].not_worse]:
            same = all(results[name].verdict is Verdict.EQUIVALENT for name in shown)
            what = "equivalent within" if same else "not worse by"
            clauses.append(f"{what} {self.topic.limit} on {_rest(shown)}")
        if open_ := [name for name in rest if not results[name].not_worse]:
            clauses.append(f"without a required verdict on {_rest(open_)}")
        if lost:
            clauses.append(f"worse {self._say_sizes(results, lost)}, which the goal allows")
        more = f", and {' and '.join(clauses)}" if clauses else ""
        return f"{who} {self._say_sizes(results, better)}{more}"

    def say_divided(self, better: Sequence[str]) -> str:
        """None of those that are better somewhere is shown to be harmless elsewhere."""
        results, name = self.by_configuration[better[0]], self.topic.name(better[0])
        up, down = (
            [name for name, result in results.items() if result.verdict is verdict]
            for verdict in (Verdict.BETTER, Verdict.WORSE)
        )
        left = len(better) - 1
        verb = "differs" if left == 1 else "differ"
        more = f", and {left} more {verb} by workload" if left else ""
        if not down:
            rest = [label for label in results if not (label in up or results[label].not_worse)]
            but = f", and not shown to be harmless on {self._name_places(rest)}" if rest else ""
            return (
                f"no {self.topic.noun} meets the goal: {name} is better than {self.baseline} on "
                f"{self._name_places(up)}{but}{more}{self._say_open()}"
            )
        return (
            f"no {self.topic.noun} is better on all {self.noun}s: {name} is better than "
            f"{self.baseline} on {self._name_places(up)}, and worse on "
            f"{self._name_places(down)}{more}"
        )

    def say_only_worse(self, worse: Sequence[str]) -> str:
        """No configuration is better, and these are worse."""
        who = f"{self._name(worse)} {_be(len(worse))} worse than {self.baseline}"
        if len(worse) == 1:
            results = self.by_configuration[worse[0]]
            where = [name for name, result in results.items() if result.verdict is Verdict.WORSE]
            who += f": {self._say_sizes(results, where)}"
        if len(self.by_configuration) > 1:
            who = f"no {self.topic.noun} is shown to be better, and {who}"
        return f"{who}{self._say_open()}"

    def say_none_differs(self, explanation: str) -> str:
        """All are equivalent, harmless, or without a verdict."""
        open_, all_ = self.undecided, self.comparisons
        anywhere = f" on any {self.noun}" if self.several else ""
        if all(result.verdict is Verdict.EQUIVALENT for result in all_):
            who = f"no {self.topic.noun} differs"
            if len(self.by_configuration) == 1:
                who = f"{self.topic.name(all_[0].configuration)} does not differ"
            why = f": {explanation}" if explanation else ""
            return f"{who} from {self.baseline} by more than {self.topic.limit}{anywhere}{why}"
        if harmless := self.find(Verdict.EQUIVALENT, Verdict.NOT_WORSE, everywhere=True):
            is_known = len(all_) == 1 and None not in (all_[0].change, all_[0].interval)
            size = f": {format_change(all_[0])}" if is_known else ""
            return (
                f"{self._name(harmless)} {_be(len(harmless))} not worse than {self.baseline} by "
                f"{self.topic.limit}{anywhere}{size}{self._say_open()}"
            )
        if len(open_) < len(all_):
            no = f"no {self.topic.noun} is shown to differ from"
            return f"{no} {self.baseline}{self._say_open()}"
        what = "the comparison" if len(open_) == 1 else "all comparisons"
        state = f"{'still open' if self.is_under_way else 'inconclusive'} after"
        with_ = f"with {self.baseline} {_be(len(open_))}"
        return f"{what} {with_} {state} {_count_blocks(open_)}{self._say_needs()}"

    def _say_sizes(self, results: dict[str, Result], where: Sequence[str]) -> str:
        if len(where) > MOST_NAMED:
            return f"on {len(where)} of {len(results)} {self.noun}s"
        # A difference is one by percent; a ratio to the baseline is not a difference.
        sizes = {
            name: f"{'by ' if _has_difference(results[name]) else ''}"
            f"{format_change_size(results[name])}"
            for name in where
        }
        if len(results) == 1:
            return sizes[where[0]]
        return join_words([f"{size} on {name}" for name, size in sizes.items()])

    def _say_open(self) -> str:
        open_ = len(self.undecided)
        if not open_:
            return ""
        of = f"{open_} of {format_count(len(self.comparisons), 'comparison')}"
        state = "open" if self.is_under_way else "inconclusive"
        return f"; {of} {_be(open_)} {state}{self._say_needs()}"

    def _say_needs(self) -> str:
        """Return what disturbed, and ``about 55 blocks are needed``; empty unless one is known."""
        hides = self.disturbance and not all(result.is_apart for result in self.undecided)
        parts = [self.disturbance] if hides else []
        needed = [result.blocks_needed for result in self.undecided]
        known = [number for number in needed if number is not None]
        if len(known) == len(needed):
            is_feasible = is_feasible_extension(max(known), self.topic.max_blocks)
            blocks = f"about {max(known)} blocks are needed"
            parts.append(blocks if is_feasible else "more blocks alone are unlikely to decide")
        return f": {', and '.join(parts)}" if parts else ""

    def _name(self, labels: Sequence[str]) -> str:
        if len(labels) <= MOST_NAMED:
            return join_words([self.topic.name(label) for label in labels])
        return f"{len(labels)} {self.topic.noun}s"

    def _name_places(self, names: Sequence[str]) -> str:
        if len(names) <= MOST_NAMED:
            return join_words(names)
        return format_count(len(names), self.noun)


def _has_difference(result: Result) -> bool:
    return None not in (result.change, result.interval) and not is_ratio(result.change or 0.0)


def _rest(names: Sequence[str]) -> str:
    return join_words(names) if len(names) <= MOST_NAMED else f"the other {len(names)}"
