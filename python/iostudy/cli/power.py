"""``iostudy power``: power of a study on this machine, from a short A/A study of its baseline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.arguments import Json, Seed, StudyName, UnsafeFolders, Yes
from iostudy.cli.consent import Consent
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.output_folder import (
    find_output_folder,
    print_resume_hint_on_signal,
    refuse_seed,
)
from iostudy.cli.study_argument import load_study
from iostudy.errors import UsageError
from iostudy.node.expected import with_expected_levels
from iostudy.study.aa_study import build_aa_study
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.study.privileges import adapt_to_user
from iostudy.study.sections import MAX_BLOCKS, MIN_BLOCKS
from iostudy.units import parse_seconds

BLOCKS = 10
"""Fewest blocks for a usable standard deviation: its 95 % interval is -31 % to +83 %."""


def _seconds(text: str) -> float:
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def power(
    study: StudyName,
    blocks: Annotated[
        int,
        typer.Option(
            min=MIN_BLOCKS, max=MAX_BLOCKS, help="Blocks of the A/A study, two trials each."
        ),
    ] = BLOCKS,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=_seconds,
            metavar="TIME",
            help="Also print what a study of this duration can detect: 2h, 30min.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="results/NAME-power-DATE-TIME"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the A/A study in the output folder.")
    ] = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Measure the baseline's noise; print what a study can detect.

    The baseline runs twice in each block of an A/A study, whose report is in the output folder.
    The study itself does not start.
    """
    refuse_seed(seed, resume=resume)
    root = os.geteuid() == 0
    loaded = _with_levels(adapt_to_user(load_study(study), root=root))
    name = f"{loaded.name}-power"
    folder = find_output_folder(name, out, resume=resume)
    text = build_aa_study(loaded, str(folder.absolute()), blocks)
    same = parse(text, where=f"the A/A of {loaded.name}", name=name)
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.study_runner import run_and_write_report

    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    command = ["iostudy", "power", study, "--blocks", str(blocks), *consent.resume_options()]
    with print_resume_hint_on_signal(command, folder):
        run_and_write_report(same, folder, consent, resume=resume, seed=seed)
    _print_power(loaded, same, folder, budget, json=json)


def _with_levels(study: Study) -> Study:
    """Replace ``offered`` by the levels of this host: the baseline depends on them."""
    known = with_expected_levels(study)
    if waiting := ", ".join(factor.name for factor in known.awaiting_offer()):
        raise UsageError(
            "the baseline of the study, to run it twice",
            found=f"the levels that the host offers for {waiting} are not known yet",
            where=study.name,
            remedy="list the levels in the study file",
        )
    return known


def _print_power(
    study: Study, same: Study, folder: Path, budget: float | None, *, json: bool
) -> None:
    from iostudy.ledger.studies import open_ledger
    from iostudy.report.documents.power import AaMeasurement, build_power, build_power_table

    with open_ledger(folder) as ledger:
        result = build_power(study, AaMeasurement(same, ledger.rows(), str(folder)), budget)
    if json:
        print_json(result.model_dump(mode="json"))
        return
    shown = build_power_table(result)
    print_table(shown.heads, shown.rows)
    print_line()
    for sentence in result.sentences:
        print_line(sentence)
    say(f"report of the A/A study: {folder / 'report.html'}")
