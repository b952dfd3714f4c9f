"""``iostudy watch``: what the devices do now, or while a command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from iostudy.cli.arguments import UnsafeFolders
from iostudy.cli.console import print_json, print_text, say
from iostudy.cli.signals import EndedBySignal, heard, install
from iostudy.folders import require_safe_folder
from iostudy.telemetry.rate import DEFAULT_HZ
from iostudy.watch.csv import Csv
from iostudy.watch.form import Form, write_readings
from iostudy.watch.iostat_json import IostatJson
from iostudy.watch.live import Live, Watch, read_host, readings
from iostudy.watch.plain import PlainText

SHORTEST_SECONDS = 0.1
"""The kernel counts CPU time in hundredths of a second: shares of a shorter time say nothing."""
DEFAULT_SECONDS = 1.0
_COMMAND = "iostudy.watch.command"


class WatchCommand(TyperCommand):
    """What stands behind ``--`` is a command with arguments of its own, and no device.

    The contexts are Click's, of which Typer has a copy of its own or not, by its version.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the command for `watch`."""
        if "--" in args:
            at = args.index("--")
            ctx.meta[_COMMAND] = args[at + 1 :]
            args = args[:at]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Also how a command is given."""
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND [ARGUMENT]...]"]


def watch(
    context: typer.Context,
    devices: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DEVICE]...",
            help="Kernel names, volumes, nodes below /dev, or paths: the device below.",
            show_default="all that have done any I/O",
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            min=SHORTEST_SECONDS,
            max=86400,
            help="Seconds between readings.",
            show_default="1, and 0.1 beside a COMMAND",
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="End after so many readings.", show_default="endless")
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Lines as iostat prints them, on a terminal, too.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="One JSON document, as iostat -xt -o JSON writes it, or of a COMMAND."
        ),
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="A row for each device and interval.")
    ] = False,
    old_figures: Annotated[
        bool,
        typer.Option(
            "--old-figures",
            help="Add avgrq-sz, avgqu-sz, await and svctm, as iostat once had them. "
            "Do not trust svctm: sysstat itself has given it up.",
        ),
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option(
            metavar="[HOST:]PORT",
            help="Serve OpenMetrics at /metrics, on 127.0.0.1 unless a host is named.",
        ),
    ] = None,
    textfile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.prom", help="Write metrics for node_exporter's textfile collector."
        ),
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Show what the devices do, by iostat's figures; never the average since boot.

    In a terminal it is a table that can be sorted and filtered (? shows the keys), elsewhere lines.
    With a COMMAND it tells on stderr, once that has ended, what the machine did and what limited
    it; signals are handed on to the command, and the exit code is the command's. With --json the
    document goes to stdout, and what the command prints to stderr.
    """
    as_metrics = listen is not None or textfile is not None
    if sum((as_json, as_csv, listen is not None, textfile is not None)) > 1:
        raise typer.BadParameter("give one of --json, --csv, --listen and --textfile")
    command = context.meta.get(_COMMAND)
    if command is not None:
        if not command:
            raise typer.BadParameter("give a command behind --")
        if count is not None or plain or as_csv or old_figures or as_metrics:
            raise typer.BadParameter("beside a command only --interval and --json have a meaning")
        _beside(command, devices or (), interval, as_json=as_json)
    interval = interval or DEFAULT_SECONDS
    if listen is not None:
        _serve(devices or (), listen)
    if textfile is not None:
        require_safe_folder(textfile.parent, insist=unsafe_folders)
        _write_textfile(Live(devices or ()), textfile, interval, count)
        return
    as_lines = plain or as_json or as_csv or old_figures
    live = Live(devices or ())
    if not as_lines and sys.stdin.isatty() and sys.stdout.isatty():
        _in_the_terminal(live, interval, count)
        return
    form = _form(as_json=as_json, as_csv=as_csv, old=old_figures)
    write_readings(form, readings(live, interval, count), print_text)


def _beside(
    command: Sequence[str], devices: Sequence[str], interval: float | None, *, as_json: bool
) -> NoReturn:
    """Run it, tell of it, and end with its exit code."""
    # Not at the top: numpy is slow to load.
    from iostudy.watch.command import run
    from iostudy.watch.command_json import document

    hz = 1 / interval if interval else DEFAULT_HZ
    told = run(command, Watch(devices), hz, heard(), sys.stderr.fileno() if as_json else None)
    if as_json:
        print_json(document(told).model_dump(mode="json"))
    else:
        say(told.text())
    raise typer.Exit(told.exit_code)


def _serve(devices: Sequence[str], listen: str) -> None:
    """Until a signal ends it."""
    from iostudy.watch.exporter import PATH, Server, address  # not at the top: numpy is slow

    with Server(Live(devices), address(listen)) as server:
        host, port = server.server_address[:2]
        say(f"metrics are served at http://{host!s}:{port}{PATH}")
        server.serve_forever()


def _write_textfile(live: Live, path: Path, interval: float, count: int | None) -> None:
    from iostudy.watch.exporter import write_textfile  # not at the top: numpy is slow to load

    if path.suffix != ".prom":
        raise typer.BadParameter("--textfile: node_exporter reads files that end in .prom alone")
    write_textfile(live, path, interval, count)


def _form(*, as_json: bool, as_csv: bool, old: bool) -> Form:
    if as_csv:
        return Csv(old)
    return (IostatJson if as_json else PlainText)(read_host(), date.today(), old)


def _in_the_terminal(live: Live, interval: float, count: int | None) -> None:
    """Until somebody quits; a signal ends it as it ends every command."""
    from iostudy.watch.app import show  # not at the top: Textual is slow to load

    ended = show(live, interval, count, heard())
    install()
    if ended is not None:
        raise EndedBySignal(ended)
