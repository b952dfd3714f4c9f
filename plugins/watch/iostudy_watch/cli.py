"""``iostudy watch``: figures of the devices, live or while a command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from typing import Annotated, NoReturn

import typer

from iostudy.cli.commands import command_line
from iostudy.cli.console import print_json, print_text, say
from iostudy.cli.signals import EndedBySignal, handled_signals, install_handlers
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy_watch.csv import Csv
from iostudy_watch.iostat_json import IostatJson
from iostudy_watch.live import DeviceSelection, Live, read_machine, readings
from iostudy_watch.output_format import OutputFormat, write_readings
from iostudy_watch.plain import PlainText

MIN_SECONDS = 0.1
"""The kernel counts CPU time in hundredths of a second, too coarse for shorter intervals."""
DEFAULT_SECONDS = 1.0


def watch(
    context: typer.Context,
    devices: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DEVICE]...",
            help="Kernel names, volumes, nodes in /dev, or paths on the device.",
            show_default="all that have done any I/O",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            min=MIN_SECONDS,
            max=86400,
            help="Seconds between readings.",
            show_default="1, and 0.1 with a COMMAND",
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="Exit after this many readings.", show_default="endless"),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Print lines as iostat does, also on a terminal.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON document, as iostat -xt -o JSON does, or that of a COMMAND.",
        ),
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a row for each device and interval.")
    ] = False,
    old_figures: Annotated[
        bool,
        typer.Option(
            "--old-figures",
            help="Add avgrq-sz, avgqu-sz, await and svctm of old iostat versions. "
            "Do not trust svctm: sysstat has dropped it.",
        ),
    ] = False,
) -> None:
    """Show what the devices do, by iostat's figures.

    It never shows the average since boot. A terminal gets a table that can be sorted and filtered
    (? shows the keys); anything else gets lines. With a COMMAND, it prints on stderr what the
    machine did until the command ended, and the bottleneck. Signals are forwarded to the command,
    and its exit code is returned. With --json the document goes to stdout, and the output of the
    command to stderr.
    """
    if as_json and as_csv:
        raise typer.BadParameter("give --json or --csv, not both")
    command = command_line(context)
    if command is not None:
        if count is not None or plain or as_csv:
            raise typer.BadParameter(
                "with a command, only --interval, --json and --old-figures are allowed"
            )
        _watch_command(command, devices or (), interval, as_json=as_json, old=old_figures)
    interval = interval or DEFAULT_SECONDS
    as_lines = plain or as_json or as_csv or old_figures
    live = Live(devices or ())
    if not as_lines and sys.stdin.isatty() and sys.stdout.isatty():
        _show_table(live, interval, count)
        return
    form = _form(as_json=as_json, as_csv=as_csv, old=old_figures)
    write_readings(form, readings(live, interval, count), print_text)


def _watch_command(
    command: Sequence[str],
    devices: Sequence[str],
    interval: float | None,
    *,
    as_json: bool,
    old: bool,
) -> NoReturn:
    """Run the command, print its summary, and exit with its exit code."""
    # Imported here: numpy is slow to load.
    from iostudy_watch.command import run
    from iostudy_watch.command_json import build_document

    hz = 1 / interval if interval else DEFAULT_HZ
    report = run(
        command,
        DeviceSelection(devices),
        hz,
        handled_signals(),
        sys.stderr.fileno() if as_json else None,
    )
    if as_json:
        print_json(build_document(report, old=old).model_dump(mode="json"))
    else:
        say(report.text(old=old))
    raise typer.Exit(report.exit_code)


def _form(*, as_json: bool, as_csv: bool, old: bool) -> OutputFormat:
    if as_csv:
        return Csv(old)
    return (IostatJson if as_json else PlainText)(read_machine(), date.today(), old)


def _show_table(live: Live, interval: float, count: int | None) -> None:
    """Show the table until the user quits or a signal arrives."""
    from iostudy_watch.app import show  # not at the top: Textual is slow to load

    ended = show(live, interval, count, handled_signals())
    install_handlers()
    if ended is not None:
        raise EndedBySignal(ended)
