"""``iostudy trace``: record the block events of devices, and summarize a trace."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from iostudy.cli.arguments import Json, UnsafeFolders, parse_positive_time_option
from iostudy.cli.commands import PassThroughCommand, command_line
from iostudy.cli.console import print_json, print_line, print_table, say
from iostudy.cli.signals import handled_signals
from iostudy.cli.stale_changes import recover_stale_changes
from iostudy.errors import UsageError
from iostudy.output_file import OutputFile

app = typer.Typer(
    name="trace",
    help="Record block events with their processes; summarize a trace.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback(no_args_is_help=True)
def before_each() -> None:
    """Record block events with their processes; summarize a trace."""
    recover_stale_changes(must_succeed=False)


@app.command("record", cls=PassThroughCommand)
def record(
    context: typer.Context,
    devices: Annotated[
        list[str] | None,
        typer.Option(
            "--device",
            metavar="DEVICE|PATH",
            help="A device, or a path on it; repeat it for several.",
            show_default="all devices",
        ),
    ] = None,
    out: Annotated[
        OutputFile | None,
        typer.Option(
            metavar="FILE.parquet",
            parser=OutputFile,
            help="A new file.",
            show_default="trace-DATE-TIME.parquet",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Record for this time, such as 30s, instead of a COMMAND.")
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Record the block events of devices while a COMMAND runs, or for some time.

    It needs root and tracefs. Signals are forwarded to the command, and its exit code is returned;
    without a command, a signal ends the recording. The file is complete in both cases.
    """
    from iostudy.cli.watchdog import start_or_warn
    from iostudy_trace import record as record_trace

    command = command_line(context)
    seconds = _parse_duration(duration, command)
    written = out or OutputFile(f"trace-{datetime.now():%Y%m%d-%H%M%S}.parquet")
    if written.is_stdout:
        raise typer.BadParameter("--out: a trace needs a file, as its end refers to all of it")
    written.require_safe(insist=unsafe_folders, new=True)
    path = written.path
    disks = record_trace.select_disks(devices) if devices else None
    note = record_trace.describe_overlap(path.parent, disks)
    with written.open_new() as file:
        recording = record_trace.Recording(path, file, disks, handled_signals(), start_or_warn)
        if command is not None:
            done = record_trace.record_command(recording, command)
        else:
            done = record_trace.record_time(recording, seconds)
    say(f"written: {path}: {done.events} events, {done.lost} lost{note}")
    raise typer.Exit(done.exit_code)


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(help="A file of `iostudy trace record`.")],
    json: Json = False,
) -> None:
    """Summarize a trace: requests, sizes, queue depth, order, latencies and processes."""
    from iostudy_trace.matching import match
    from iostudy_trace.summary import summarize
    from iostudy_trace.summary_text import list_facts, list_processes, list_requests
    from iostudy_trace.trace_file import read_trace

    summary = summarize(match(read_trace(file)))
    if json:
        print_json({"schema": "iostudy.trace/1", **asdict(summary)})
        return
    print_line(str(file), style="bold")
    print_table(("", ""), list_facts(summary))
    print_line()
    print_table(*list_requests(summary))
    print_line()
    print_table(*list_processes(summary))


def _parse_duration(text: str | None, command: list[str] | None) -> float:
    """Return the seconds; 0 with a command. UsageError for both or neither."""
    if (text is None) == (command is None):
        raise UsageError(
            "a command after --, or --duration",
            found="neither" if text is None else "both",
            where="trace record",
            remedy="give one of them",
        )
    return 0.0 if text is None else parse_positive_time_option("--duration", text, "30s")
