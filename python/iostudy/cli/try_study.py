"""``iostudy try``: compare commands, or values of settings, in one line."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.cli.answer_output import (
    VERDICT_EXIT,
    AnswerForm,
    FailOnOption,
    Full,
    Markdown,
    choose_form,
)
from iostudy.cli.arguments import (
    Json,
    Seed,
    StudyOut,
    UnsafeFolders,
    Wait,
    Yes,
    parse_positive_time_option,
    parse_time_option,
)
from iostudy.cli.commands import command_line
from iostudy.cli.console import print_text, say
from iostudy.cli.output_folder import (
    find_output_folder,
    prepare_output,
    print_resume_hint_on_signal,
    wait_for_locks,
)
from iostudy.cli.stale_changes import recover_stale_changes
from iostudy.errors import IostudyError, TrialError
from iostudy.units import format_exact_seconds, format_seconds

if TYPE_CHECKING:
    from iostudy.node.conditions import Permission
    from iostudy.study.model import Study

# Functions import the modules of studies, which help and usage errors do not need.

BLOCKS = 5, 30
"""Fewest and most blocks of the printed study file."""
_FEWEST_AT_MOST, _MOST = 8, 60
"""Bounds of the most blocks, which depend on the time of one."""
_REHEARSAL_SHARE = 0.2
"""Share of the time limit after which no further configuration is rehearsed."""
_USABLE_SHARE = 0.9
"""Share of the time limit that blocks may fill; the rest is for preparation."""


class Better(StrEnum):
    """Direction in which a figure is better."""

    HIGHER = "higher"
    LOWER = "lower"


def try_study(
    context: typer.Context,
    commands: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[COMMAND COMMAND...]",
            help="Commands to compare; the first is the baseline. Quote each.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B",
            help="A setting or workload option with its values, the baseline first; repeatable.",
        ),
    ] = None,
    read: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Command that prints an unknown setting.")
    ] = None,
    write: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Command that sets it; {} stands for the value."),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="DIRECTORY|TARGET",
            help="Where to run: a directory, or a target as in a study file, such as "
            "'{loopback: {size: 2GiB}}'.",
            show_default="the working directory",
        ),
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME...|=REGEX|=json:PATH]",
            help="The figure that decides: one of fio's, or a number in the output; repeatable. Of "
            "several the first decides, and the others must not get worse.",
            show_default="elapsed time; of fio its bandwidth",
        ),
    ] = None,
    better: Annotated[
        list[Better] | None,
        typer.Option(
            help="Whether more or less of the figure is better, if its name does not say; with "
            "several figures once for each."
        ),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="UNIT",
            help="Unit of the figure; with several figures once for each.",
            show_default="what the REGEX has after its number",
        ),
    ] = None,
    margin: Annotated[str, typer.Option(help="Smaller differences do not matter.")] = "5%",
    risk: Annotated[str, typer.Option(help="Chance of any wrong verdict.")] = "5%",
    max_time: Annotated[
        str, typer.Option(metavar="TIME", help="Begin no block after this time.")
    ] = "5min",
    warmup: Annotated[
        int, typer.Option(min=0, help="Unmeasured runs before every measured run.")
    ] = 0,
    prepare: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run before every run, unmeasured.")
    ] = None,
    cleanup: Annotated[
        str | None, typer.Option(metavar="COMMAND", help="Run after the runs of a block.")
    ] = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Drop the page cache before every run.")
    ] = False,
    user: Annotated[
        str | None, typer.Option(help="The user that runs the commands; iostudy itself is root.")
    ] = None,
    shell: Annotated[bool, typer.Option("--shell", help="Pass commands to sh -c.")] = False,
    print_: Annotated[
        bool, typer.Option("--print", help="Print the study file of this line; run nothing.")
    ] = False,
    out: StudyOut = None,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
    wait: Wait = "0s",
    seed: Seed = None,
    fail_on: FailOnOption = None,
    full: Full = False,
    markdown: Markdown = False,
    json: Json = False,
) -> None:
    """Compare commands, or values of settings, in one line.

    `iostudy try './old' './new'` compares elapsed times. `iostudy try --vary NAME=A,B -- COMMAND`
    runs one command under each value, and restores the setting. Every run has an empty folder of
    its own as its working directory. fio is recognised, and its figures are read.
    """
    from iostudy.cli.consent import Consent
    from iostudy.execution.session import prepare_session
    from iostudy.study.one_line import OneLine, build_study_text, name_study
    from iostudy.study.parser import parse

    recover_stale_changes(must_succeed=not print_)
    line = OneLine(
        directory=Path.cwd(),
        commands=tuple(commands or ()),
        command=tuple(command_line(context) or ()),
        varied=tuple(vary or ()),
        read=read,
        write=write,
        on=on,
        figures=tuple(figure or ()),
        better=tuple(better or ()),
        unit=tuple(unit or ()),
        margin=margin,
        risk=risk,
        warmup=warmup,
        prepare=prepare,
        cleanup=cleanup,
        cold=cold,
        shell=shell,
        user=user,
    )
    wait_seconds = parse_time_option("--wait", wait, "10min")
    form = choose_form(full=full, markdown=markdown, json=json)
    seconds = parse_positive_time_option("--max-time", max_time, "5min")
    text = build_study_text(line, BLOCKS)
    if print_:
        print_text(text)
        return
    name, where = name_study(line), "the study of this line, which --print shows"
    folder = find_output_folder(name, out, resume=False)
    root = os.geteuid() == 0
    study = prepare_session(parse(text, where=where, name=name), folder, root=root, resume=False)
    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    again = ["iostudy", "run", str(folder), *consent.resume_options()]
    with prepare_output(study, consent) as permission:
        most = _choose_blocks(study.study, folder, permission, seconds, wait_seconds)
        loaded = parse(build_study_text(line, (BLOCKS[0], most)), where=where, name=name)
        with print_resume_hint_on_signal(again, folder):
            verdicts = _run(loaded, folder, permission, seed=seed, seconds=seconds, form=form)
    code = VERDICT_EXIT if verdicts & frozenset(fail_on or ()) else 0
    _print_json(folder, code, form)
    if code:
        raise typer.Exit(code)


def _print_json(folder: Path, code: int, form: AnswerForm) -> None:
    if form is AnswerForm.JSON:
        from iostudy.cli.run_json import print_run

        print_run(folder, code)


def _choose_blocks(
    study: Study, folder: Path, permission: Permission, seconds: float, wait_seconds: float
) -> int:
    """Run the configurations once, unrecorded; return the blocks that fit the time, and print it.

    The number is fixed before the first block, so the verdicts keep their risk.
    """
    from iostudy.cli.mode_text import format_range
    from iostudy.cli.plan_lines import TIME, describe_plan, wrap_plan
    from iostudy.cli.study_runner import rehearse
    from iostudy.study.requests import find_unsynced_latencies

    share = _REHEARSAL_SHARE * seconds
    say(f"each configuration runs once, unrecorded; none after {format_seconds(share)}")
    configurations = len(study.configurations())
    start = partial(rehearse, study, folder, permission, share)
    block = wait_for_locks(wait_seconds, folder, start)
    most = min(_MOST, max(_FEWEST_AT_MOST, int(_USABLE_SHARE * seconds / block)))
    ends = (format_seconds(min(seconds, number * block)) for number in (BLOCKS[0], most))
    time = f"{format_range(ends)}: {BLOCKS[0]} to {most} blocks of {configurations} runs"
    plan = [(head, time if head == TIME else text) for head, text in describe_plan(study)]
    warnings = [*find_unsynced_latencies(study)]
    if (fewest := BLOCKS[0] * block / _USABLE_SHARE) > seconds:
        needed = format_exact_seconds(math.ceil(fewest))
        warnings += [f"{BLOCKS[0]} blocks, the fewest for a verdict, need --max-time {needed}"]
    for line in wrap_plan(plan, [f"warning: {text}" for text in warnings]):
        say(line)
    return most


def _run(
    study: Study,
    folder: Path,
    permission: Permission,
    *,
    seed: int | None,
    seconds: float,
    form: AnswerForm,
) -> set[str]:
    from iostudy.cli.study_runner import run_study
    from iostudy.execution.schedule import TimeLimit
    from iostudy.execution.session import prepare_session

    session = prepare_session(study, folder, root=os.geteuid() == 0, resume=False)
    try:
        return run_study(session, permission, seed=seed, limit=TimeLimit.start(seconds), form=form)
    except TrialError as error:
        with suppress(IostudyError):  # the error that ended the study takes precedence
            _print_json(folder, error.exit_code, form)
        raise
