"""Plan of a study in a few lines: what it changes, writes, takes and decides."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator, Sequence
from typing import assert_never

from iostudy.cli.mode_text import describe_volume, find_mode_text
from iostudy.node.free_space import estimate_volume
from iostudy.settings import catalog
from iostudy.settings.definition import Cost, Reach
from iostudy.settings.definitions.declared import DeclaredDefinition, TextFileDefinition
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Factor, FactorKind
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.units import format_percent

COLUMNS = 80
TIME = "will take"
_HEAD = 14
_MOST_REMARKS = 4
_LONGEST = 2
"""Most lines of an entry, and most entries of one kind."""
_PROGRAM = "command"
"""Name of the workload that runs any program."""
_OF_COMMANDS = "what the commands of the study change by themselves"


def describe_plan(study: Study) -> list[tuple[str, str]]:
    """Describe what a person has to know before the study starts."""
    texts = describe_changes(study)
    changes = [("will change", text) for head, text in texts if head == "changes"]
    others = [entry for entry in texts if entry[0] != "changes"]
    return [
        *_shorten(changes, _LONGEST),
        *describe_cautions(study)[:1],
        ("will write", _describe_writes(study)),
        (
            TIME,
            "known once the host reports the levels that it offers"
            if study.awaiting_offer()
            else find_mode_text(study).describe_time(study),
        ),
        ("decides", _describe_decision(study)),
        *_shorten(others, 2 * _LONGEST),
    ]


def _shorten(entries: Sequence[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return the first entries, with the number of the others: none is left out silently."""
    more = len(entries) - most
    left = [("", f"and {more} more; --full lists them")] if more > 0 else []
    return [*entries[:most], *left]


def wrap_plan(entries: Sequence[tuple[str, str]], remarks: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of at most 80 columns; remarks beyond the first few are counted."""
    for remark in remarks[:_MOST_REMARKS]:
        yield from textwrap.wrap(remark, COLUMNS, max_lines=_LONGEST, placeholder=" ...")
    if len(remarks) > _MOST_REMARKS:
        yield f"and {len(remarks) - _MOST_REMARKS} more remarks; --full prints them"
    for head, text in entries:
        yield from textwrap.wrap(
            text,
            COLUMNS,
            initial_indent=f"{head:{_HEAD}}",
            subsequent_indent=" " * _HEAD,
            max_lines=_LONGEST,
            placeholder=" ...",
            break_on_hyphens=False,
        )


def _describe_writes(study: Study) -> str:
    if study.awaiting_offer() or not find_mode(study).plans_trials:
        return f"files on {study.describe_target()}, removed at the end"
    blocks = study.decide.min_blocks, study.decide.max_blocks
    (_, space), (_, written) = describe_volume(study, blocks)
    volume = estimate_volume(study)
    if not volume.peak_bytes:
        space = "files of its own"
    note = f"; {written}" if volume.block_bytes and not volume.unknown else ""
    return f"{study.describe_target()}: {space}, removed at the end{note}"


def _describe_decision(study: Study) -> str:
    decide = study.decide
    figures = dict.fromkeys(request.figure.name for request in study.workloads)
    guards = dict.fromkeys(figure.name for w in study.workloads for figure in w.figures[1:])
    guarded = f", while {', '.join(guards)} must not get worse" if guards else ""
    return (
        f"{', '.join(figures)}{guarded}; differences below {format_percent(decide.margin)} count "
        f"as none; {format_percent(decide.risk)} risk of any wrong verdict"
    )


def describe_changes(study: Study) -> list[tuple[str, str]]:
    """Describe every setting that varies, and every disk and mount that is made."""
    if study.target.predicts:
        return [("changes", "nothing: host, scheduler and drive are simulated")]
    settings = [factor for factor in study.factors if factor.kind is FactorKind.SETTING]
    switched = find_mode(study).measures_windows
    changes = [_describe_change(factor, switched=switched) for factor in settings]
    changes += study.target.describe_changes()
    if study.starts_service:
        changes.append(f"the service {study.service} on 127.0.0.1, ended and removed at the end")
    nothing = "nothing " + ("by iostudy itself" if _has_commands(study) else "but files of its own")
    return [
        *(("changes", change) for change in changes or [nothing]),
        *([("not restored", _OF_COMMANDS)] if _has_commands(study) else []),
        *_describe_commands(settings),
    ]


def _has_commands(study: Study) -> bool:
    """Whether programs run that may change anything on the host."""
    return any(workload.name == _PROGRAM for workload in study.workloads)


def _describe_commands(factors: Sequence[Factor]) -> list[tuple[str, str]]:
    """List the files and commands of settings that the study or the user has declared."""
    definitions = [catalog.get(factor.name) for factor in factors]
    undocumented = [d for d in definitions if isinstance(d, DeclaredDefinition) and d.undocumented]
    files = [("edits", d.file) for d in undocumented if isinstance(d, TextFileDefinition)]
    return [
        *files,
        *(("runs", shlex.join(command)) for one in undocumented for command in one.commands),
    ]


def describe_cautions(study: Study) -> list[tuple[str, str]]:
    """Describe what the changes of settings may do to others."""
    settings = [factor for factor in study.factors if factor.kind is FactorKind.SETTING]
    cautions = [(f.name, catalog.get(f.name).caution) for f in settings if not _is_unchanged(f)]
    return [("caution", f"{name}: {caution}") for name, caution in cautions if caution]


def _is_unchanged(factor: Factor) -> bool:
    return {level.value for level in factor.levels} == {AS_FOUND}


def _describe_change(factor: Factor, *, switched: bool) -> str:
    """Describe where, how and how often a factor changes a setting."""
    definition = catalog.get(factor.name)
    place = "the target" if definition.reach.needs_place else definition.reach
    only = f" while {factor.condition}" if factor.condition else ""
    where = f"{factor.name} of {', '.join(factor.on) or place}{only}"
    if _is_unchanged(factor):
        return f"{where}: unchanged, and read in each trial"
    if switched:
        return f"{where}, for each window of a run, and restored after the run"
    match definition.cost:
        case Cost.CHEAP if definition.reach is Reach.CLUSTER:
            return f"{factor.name}, given to the jobs of each trial"
        case Cost.CHEAP:
            return f"{where}, for each trial, and restored after it"
        case Cost.REMOUNT:
            return f"{where}, by a remount for each trial, and restored after it"
        case Cost.RESTART:
            return f"{where}, by a restart of its daemons before each trial"
        case Cost.FORMAT:
            return f"{where}, by a new file system, as rarely as the plan allows"
        case unreachable:
            assert_never(unreachable)
