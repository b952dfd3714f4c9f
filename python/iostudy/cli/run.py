"""``iostudy run``: run a study and write its report."""

from __future__ import annotations

import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iostudy.cli.answer_output import (
    VERDICT_EXIT,
    AnswerForm,
    CiOutput,
    FailOnOption,
    Full,
    JunitOption,
    Markdown,
    SummaryOption,
    build_ci_output,
    choose_form,
)
from iostudy.cli.arguments import (
    Json,
    Resume,
    Seed,
    StudyName,
    StudyOut,
    UnsafeFolders,
    Wait,
    Yes,
    parse_positive_time_option,
    parse_time_option,
)
from iostudy.cli.console import say
from iostudy.cli.output_folder import (
    find_output_folder,
    load_study,
    prepare_output,
    print_resume_hint_on_signal,
    refuse_seed,
    wait_for_locks,
)
from iostudy.errors import IostudyError, TrialError, UsageError

if TYPE_CHECKING:
    from iostudy.cli.consent import Consent
    from iostudy.study.model import Study

# Functions import the modules of studies, which help and usage errors do not need.


def run(
    study: StudyName,
    out: StudyOut = None,
    resume: Resume = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
    max_time: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Begin no block after this time, such as 2h or 90min; --resume continues.",
        ),
    ] = None,
    more: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|BLOCKS",
            help="With --resume: continue a finished study for so long, such as 5min or 20blocks.",
        ),
    ] = None,
    wait: Wait = "0s",
    seed: Seed = None,
    fail_on: FailOnOption = None,
    junit: JunitOption = None,
    summary: SummaryOption = None,
    full: Full = False,
    markdown: Markdown = False,
    json: Json = False,
) -> None:
    """Run a study; write its report and its ledger.

    The output folder gets report.html, report.md, report.json and the ledger.
    """
    from iostudy.cli.consent import Consent

    limits = _parse_limits(max_time, more, resume=resume)
    wait_seconds = parse_time_option("--wait", wait, "10min")
    form = choose_form(full=full, markdown=markdown, json=json)
    ci = build_ci_output(fail_on, junit, summary, insist=unsafe_folders)
    refuse_seed(seed, resume=resume)
    loaded = load_study(study)
    _require_this_host(loaded)
    for section in loaded.command_sections.values():
        say(section.explain_run(study))
    folder = find_output_folder(loaded.name, out, resume=resume, argument=study)
    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    with print_resume_hint_on_signal(
        ["iostudy", "run", str(folder), *consent.resume_options()], folder
    ):
        try:
            verdicts = _run(
                loaded,
                folder,
                consent,
                resume=resume,
                seed=seed,
                limits=limits,
                form=form,
                wait_seconds=wait_seconds,
            )
        except TrialError as error:
            with suppress(IostudyError):  # the error that ended the study takes precedence
                _write_output(ci, folder, error.exit_code, json=json)
            raise
    code = VERDICT_EXIT if verdicts & ci.fail_on else 0
    _write_output(ci, folder, code, json=json)
    if code:
        raise typer.Exit(code)


@dataclass(frozen=True)
class _Limits:
    """How far a run goes: the most seconds, and the most blocks past the plan."""

    seconds: float = math.inf
    further_blocks: float = 0


def _parse_limits(max_time: str | None, more: str | None, *, resume: bool) -> _Limits:
    if more is None:
        if max_time is None:
            return _Limits()
        return _Limits(parse_positive_time_option("--max-time", max_time, "2h"))
    if max_time is not None or not resume:
        raise UsageError(
            "--more with --resume, and without --max-time",
            found="--more continues a finished study, and limits the run itself",
            where="--more",
            remedy="use --resume --more, or --max-time for the planned blocks",
        )
    if blocks := re.fullmatch(r"([1-9]\d{0,5}) ?blocks?", more):
        return _Limits(further_blocks=int(blocks[1]))
    return _Limits(parse_positive_time_option("--more", more, "5min or --more 20blocks"), math.inf)


def _require_this_host(study: Study) -> None:
    """UsageError for a prediction, and for a load of several nodes."""
    if study.target.predicts:
        raise UsageError(
            "a study that measures a host",
            found=study.describe_target(),
            where=study.name,
            remedy="predict it with `iostudy simulate`, or leave out simulated: true",
        )
    study.require_one_host()


def _write_output(ci: CiOutput, folder: Path, exit_code: int, *, json: bool) -> None:
    from iostudy.cli.report_output import read_report
    from iostudy.cli.run_json import print_run
    from iostudy.report.answer import build_answer
    from iostudy.report.render import markdown
    from iostudy.report.render.verdict_cases import list_report_cases

    if ci.has_files:
        report = read_report(folder)
        cases = tuple(list_report_cases(report))
        ci.write(report.name, cases, lambda: markdown.render_answer(build_answer(report, folder)))
    if json:
        print_run(folder, exit_code)


def _run(
    study: Study,
    folder: Path,
    consent: Consent,
    *,
    resume: bool,
    seed: int | None,
    limits: _Limits,
    form: AnswerForm,
    wait_seconds: float,
) -> set[str]:
    # Imported here: statistics and charts take most of a second to load.
    from iostudy.cli.plan_lines import describe_plan, wrap_plan
    from iostudy.cli.study_runner import find_completed, print_existing_report, run_study
    from iostudy.execution.schedule import TimeLimit
    from iostudy.execution.session import prepare_session
    from iostudy.folders import require_safe_folder
    from iostudy.node.expected import with_expected_levels

    assignment = prepare_session(
        study, folder, root=os.geteuid() == 0, resume=resume, further_blocks=limits.further_blocks
    )
    final = find_completed(assignment)
    if final is not None:
        require_safe_folder(folder, insist=consent.unsafe_folders)
        return print_existing_report(final, folder, form=form)
    with prepare_output(assignment, consent) as permission:
        if not resume:
            for line in wrap_plan(describe_plan(with_expected_levels(assignment.study))):
                say(line)
        return wait_for_locks(
            wait_seconds,
            folder,
            partial(
                run_study,
                assignment,
                permission,
                seed=seed,
                limit=TimeLimit.start(limits.seconds),
                form=form,
            ),
        )
