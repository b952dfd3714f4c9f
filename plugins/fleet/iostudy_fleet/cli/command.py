"""``iostudy fleet``: one study on several nodes."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from iostudy.errors import UsageError
from iostudy_fleet.cli.check import check
from iostudy_fleet.cli.report import FleetFormat, pool_studies, print_fleet_report
from iostudy_fleet.cli.run import run
from iostudy_fleet.design import Design
from iostudy_fleet.record import FleetRecord, read_record

app = typer.Typer(
    name="fleet",
    help="Run one study on several nodes; pool the results.",
    add_completion=False,
    rich_markup_mode=None,
)
app.command()(check)
app.command()(run)


@app.callback()
def fleet() -> None:
    """Run one study on several nodes; pool the results."""


@app.command()
def report(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Output folders of `run`, or one of `fleet run`."),
    ],
    form: Annotated[
        FleetFormat, typer.Option("--format", help="Output format.")
    ] = FleetFormat.TERMINAL,
) -> None:
    """Print the mean over nodes, the differences between nodes, and odd nodes.

    All folders must have the same study; devices and folders of its target may differ.
    """
    _refuse_repeated(folders)
    missing: list[str] = []
    results: list[Path] = []
    for folder in folders:
        record = read_record(folder)
        _refuse_together(folder, record)
        results += [folder] if record is None else record.list_results(folder)
        missing += [] if record is None else record.list_missing()
    print_fleet_report(pool_studies(results, missing), form)


@app.command(hidden=True)
def serve(folder: Annotated[Path, typer.Argument(help="Work folder on this node.")]) -> None:
    """Carry out the trials of `fleet run --design together`, which starts this on every node."""
    from iostudy_fleet.cli.serve import serve_trials

    serve_trials(folder)


def _refuse_together(folder: Path, record: FleetRecord | None) -> None:
    if record is not None and record.design is Design.TOGETHER:
        raise UsageError(
            "folders of nodes, each with a study of its own",
            found="a study that all nodes ran together",
            where=str(folder),
            remedy=shlex.join(["iostudy", "report", str(folder)]) + " prints its report",
        )


def _refuse_repeated(folders: list[Path]) -> None:
    counts = Counter(folder.resolve() for folder in folders)
    for folder in folders:
        if counts[folder.resolve()] > 1:
            raise UsageError(
                "an output folder for each node",
                found=f"{folder} twice",
                where="the command line",
                remedy="give each folder once",
            )
