"""``iostudy power``: what a study can decide on this machine, from a short A/A of its baseline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.arguments import Json, Seed, StudyName, UnsafeFolders, Yes
from iostudy.cli.consent import Consent
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.run import output_folder, refuse_seed, told_if_stopped
from iostudy.errors import UsageError
from iostudy.node.expected import with_expected_levels
from iostudy.study import library
from iostudy.study.aa_study import same_again
from iostudy.study.model import Study
from iostudy.study.schema import load, parse
from iostudy.study.sections import MAX_BLOCKS, MIN_BLOCKS
from iostudy.study.user import for_user
from iostudy.units import parse_seconds

BLOCKS = 10
"""As few as leave a standard deviation that can be planned by: known to -31 % and +83 %."""


def _seconds(text: str) -> float:
    try:
        return parse_seconds(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def power(
    study: StudyName,
    blocks: Annotated[
        int,
        typer.Option(min=MIN_BLOCKS, max=MAX_BLOCKS, help="Blocks of the A/A: two trials each."),
    ] = BLOCKS,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=_seconds,
            metavar="TIME",
            help="Say what a study of so long can decide: 2h, 30min.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Output folder.", show_default="results/NAME-power-DATE-TIME"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the A/A in the output folder.")
    ] = False,
    yes: Yes = False,
    unsafe_folders: UnsafeFolders = False,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Measure the noise of a study's baseline; say what the study can decide, and when.

    The baseline runs twice in each block, as a study of its own whose report is in the output
    folder. The study itself is not begun.
    """
    refuse_seed(seed, resume=resume)
    root = os.geteuid() == 0
    asked = _with_levels(for_user(load(library.find(study)), root=root))
    name = f"{asked.name}-power"
    folder = output_folder(name, out, resume=resume)
    text = same_again(asked, str(folder.absolute()), blocks)
    same = parse(text, where=f"the A/A of {asked.name}", name=name)
    # Here and not above: statistics and charts take most of a second to load.
    from iostudy.cli.study_runner import reported

    consent = Consent(destroy=yes, unsafe_folders=unsafe_folders)
    command = ["iostudy", "power", study, "--blocks", str(blocks), *consent.repeated()]
    with told_if_stopped(command, folder):
        reported(same, folder, consent, resume=resume, seed=seed)
    _tell(asked, same, folder, budget, json=json)


def _with_levels(study: Study) -> Study:
    """What the host offers has to be known before the A/A: the baseline is of that."""
    known = with_expected_levels(study)
    if waiting := ", ".join(factor.name for factor in known.awaiting_offer()):
        raise UsageError(
            "the baseline of the study, to run it twice",
            found=f"the host does not say yet what it offers for {waiting}",
            where=study.name,
            remedy="list the levels in the study file",
        )
    return known


def _tell(asked: Study, same: Study, folder: Path, budget: float | None, *, json: bool) -> None:
    from iostudy.ledger.studies import open_ledger
    from iostudy.report.power import Same, power, table

    with open_ledger(folder) as ledger:
        told = power(asked, Same(same, ledger.rows(), str(folder)), budget)
    if json:
        print_json(told.model_dump(mode="json"))
        return
    shown = table(told)
    print_table(shown.heads, shown.rows)
    print_line()
    for sentence in told.told:
        print_line(sentence)
    say(f"report of the A/A: {folder / 'report.html'}")
