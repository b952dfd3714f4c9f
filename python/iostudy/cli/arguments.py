"""Arguments and options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from iostudy.folders import UNSAFE_FOLDERS_OPTION

StudyName = Annotated[
    str,
    typer.Argument(
        help="A study file, the name of a ready-made study, an output folder with its study, or - "
        "for stdin."
    ),
]
Yes = Annotated[
    bool, typer.Option("--yes", help="Destroy the data on a scratch device without asking.")
]
Seed = Annotated[
    int | None,
    typer.Option(min=0, help="Seed of the order of trials and of the data.", show_default="drawn"),
]
UnsafeFolders = Annotated[
    bool,
    typer.Option(
        UNSAFE_FOLDERS_OPTION,
        help="Also write into folders that other users could redirect to other files.",
    ),
]
Wait = Annotated[
    str,
    typer.Option(metavar="TIME", help="Wait for another study on the same devices, such as 10min."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StudyOut = Annotated[
    Path | None, typer.Option(help="Output folder.", show_default="results/NAME-DATE-TIME")
]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the study in the output folder.")]
