"""``iostudy power``: power of a study on this machine, from a short A/A study of its baseline.

The A/A study is like any other, so that all that holds for studies holds for it: it measures the
noise that the study's own comparisons will have.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy.cli.arguments import Json, Seed, StudyName, UnsafeFolders, Yes
from iostudy.cli.consent import Consent
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.output_folder import (
    find_output_folder,
    load_study,
    print_resume_hint_on_signal,
    refuse_seed,
)
from iostudy.errors import UsageError
from iostudy.node.expected import with_expected_levels
from iostudy.study.combinations import Configuration, Factor, FactorKind
from iostudy.study.declared_settings import KEY, written_texts
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.study.plan import whole_plots
from iostudy.study.privileges import adapt_to_user
from iostudy.study.sections import MAX_BLOCKS, MIN_BLOCKS
from iostudy.study.source import plain, read, write
from iostudy.study.study_file import ServiceKey, keys_of
from iostudy.units import format_exact_percent, parse_seconds

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
    loaded = _with_levels(adapt_to_user(load_study(study), root=os.geteuid() == 0))
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
    expected = with_expected_levels(study)
    if waiting := ", ".join(factor.name for factor in expected.awaiting_offer()):
        raise UsageError(
            "the baseline of the study, to run it twice",
            found=f"the levels that the host offers for {waiting} are not known yet",
            where=study.name,
            remedy="list the levels in the study file",
        )
    return expected


def _print_power(
    study: Study, same: Study, folder: Path, budget: float | None, *, json: bool
) -> None:
    from iostudy.ledger.studies import open_ledger
    from iostudy.report.documents.power import build_power, build_power_table
    from iostudy.results.recorded_study import RecordedStudy

    with open_ledger(folder) as ledger:
        recorded = RecordedStudy(str(folder), same, ledger.study(), ledger.rows())
        result = build_power(study, recorded, budget)
    if json:
        print_json(result.model_dump(mode="json"))
        return
    shown = build_power_table(result)
    print_table(shown.heads, shown.rows)
    print_line()
    for sentence in result.sentences:
        print_line(sentence)
    say(f"report of the A/A study: {folder / 'report.html'}")


BASELINE, AGAIN = "baseline", "the same again"
_KEPT = ("workloads", "load", KEY, "limit", "validity", "telemetry", "prepare")


def build_aa_study(study: Study, folder: str, blocks: int) -> str:
    """The text of the study file; the same for the same study, folder and blocks.

    ``study`` is what its user can run, with the levels that the host offers. ``folder`` is the
    output folder, which replaces a disk that only root can make.
    """
    values = read(study.text, study.name).values
    written = plain(values)
    if values.get(KEY):
        written[KEY] = written_texts(values[KEY])
    decide = study.decide
    return write(
        {
            "question": f"How far apart are two runs of the baseline of {study.name}?",
            "target": study.target.rewritten(written["target"], folder),
            **{key: written[key] for key in (*_KEPT, *keys_of(ServiceKey)) if key in written},
            "factors": _factors(study),
            "decide": {
                "margin": format_exact_percent(decide.margin),
                "risk": format_exact_percent(decide.risk),
                "blocks": [blocks, blocks],
            },
        }
    )


def _factors(study: Study) -> dict[str, Any]:
    """Every factor at the baseline's level, one of them under two labels."""
    baseline = study.baseline
    values = {f: value for f in study.factors if (value := _value(f, baseline)) is not None}
    twice = _doubled(study, list(values))
    return {f.name: _written(f, value, twice=f is twice) for f, value in values.items()}


def _value(factor: Factor, configuration: Configuration) -> str | None:
    """None where the factor is not active in the configuration."""
    match factor.kind:
        case FactorKind.SETTING:
            return configuration.settings.get(factor.name)
        case FactorKind.WORKLOAD_OPTION:
            return configuration.options.get(factor.option)
        case FactorKind.DIRECTORY:
            return configuration.directory


def _doubled(study: Study, factors: Sequence[Factor]) -> Factor:
    """One that is hard to change where some comparison of the study is between two whole plots.

    Such a comparison has the noise of making them too, see docs/method/design.md.
    """
    across = len(whole_plots(study.configurations())) > 1
    return next((f for f in factors if f.hard_to_change is across), factors[0])


def _written(factor: Factor, value: str, *, twice: bool) -> Any:
    levels = {BASELINE: value, AGAIN: value} if twice else {value: value}
    return {"levels": levels, "on": list(factor.on)} if factor.on else levels
