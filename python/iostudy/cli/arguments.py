"""Arguments and options of several commands, and parsers of their times and sizes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from iostudy.errors import UsageError
from iostudy.folders import UNSAFE_FOLDERS_OPTION
from iostudy.units import parse_percent, parse_seconds, parse_size

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


T = TypeVar("T")


def usage_error(wanted: str, found: str, remedy: str) -> UsageError:
    """Return the error for a request of the command line that cannot be met."""
    return UsageError(wanted, found=found, where="the command line", remedy=remedy)


def parse_time_option(option: str, text: str, example: str) -> float:
    """Return seconds; UsageError with the example, such as ``60s``, if it is not a time."""
    return _parse(option, text, example, "a time", parse_seconds)


def parse_positive_time_option(option: str, text: str, example: str) -> float:
    """Return seconds; UsageError with the example unless it is a time above 0."""
    return _parse(option, text, example, "a time above 0", _parse_positive_seconds)


def parse_size_option(option: str, text: str, example: str) -> int:
    """Return bytes; UsageError with the example, such as ``8GiB``, if it is not a size."""
    return _parse(option, text, example, "a size", parse_size)


def parse_percent_option(option: str, text: str, most: float) -> float:
    """Return the fraction of a percentage; UsageError unless it is above 0 and below ``most``."""

    def parse(given: str) -> float:
        fraction = parse_percent(given)
        if not 0 < fraction < most:
            raise ValueError("out of range")
        return fraction

    return _parse(option, text, "5%", f"a percentage above 0% and below {most:.0%}", parse)


def _parse_positive_seconds(text: str) -> float:
    seconds = parse_seconds(text)
    if not seconds > 0:
        raise ValueError("not a positive time")
    return seconds


def _parse(option: str, text: str, example: str, wanted: str, parse: Callable[[str], T]) -> T:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(
            wanted,
            found=f"{text}: {error}",
            where=option,
            remedy=f"write a number and its unit, as in {option} {example}",
        ) from error
