"""``iostudy drive``: modelled drives as block devices of this host, and measurement of drives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from iostudy.cli.arguments import Json, parse_size_option
from iostudy.cli.console import print_command, print_json, print_line, print_table, say
from iostudy.cli.stale_changes import recover_stale_changes, report_recovery
from iostudy.errors import TRIAL_FAILED, IostudyError, UsageError
from iostudy.host.devices import read_scheduler
from iostudy.settings.transaction.recovery import Recovery
from iostudy.units import format_rounded_size, format_significant
from iostudy_lab.cli.measure import measure
from iostudy_lab.device import user_drive
from iostudy_lab.device.drive import ModelledDrive
from iostudy_lab.device.statistics import DriveStatistics

app = typer.Typer(
    name="drive",
    help="Use modelled drives as block devices; measure drives.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback(no_args_is_help=True)
def before_each() -> None:
    """Use modelled drives as block devices; measure drives.

    A study with `target: {drive: ...}` starts its own. `iostudy drives` lists the models.
    """
    recover_stale_changes(must_succeed=False)


@app.command("up")
def up(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="A model, or a drive file (.yaml).")
    ],
    size: Annotated[
        str | None,
        typer.Option(help="Size, such as 8GiB; fewer cylinders.", show_default="the whole drive"),
    ] = None,
    nbd: Annotated[
        bool, typer.Option("--nbd", help="Also serve it through NBD, for virtual machines.")
    ] = False,
) -> None:
    """Start a modelled drive, which runs until `iostudy drive down DEVICE`. Data stay in memory."""
    drive = user_drive.start(
        name, None if size is None else parse_size_option("--size", size, "8GiB"), nbd=nbd
    )
    print_line(f"{drive.device.path}: {drive.model}", style="bold")
    print_table(("", ""), list(_facts(drive).items()))
    print_command(f"fio --name=x --filename={drive.device.path} --rw=randread --direct=1 --bs=4k")
    say(f"it runs until `iostudy drive down {drive.device.path}`")


@app.command("status")
def status(json: Json = False) -> None:
    """Print the modelled drives, their commands and their lateness; exit code 3 if one is dead."""
    drives = user_drive.find_drives()
    if json:
        print_json([_as_json(drive) for drive in drives])
    elif not drives:
        print_line("no modelled drive; `iostudy drive up NAME` starts one")
    failed = False
    for drive in drives:
        try:
            facts = _facts(drive) | _statistics(drive)
        except IostudyError as error:
            failed = True
            say(f"iostudy: {error}")
            continue
        if not json:
            print_line(f"{drive.device.path}: {drive.model}", style="bold")
            print_table(("", ""), list(facts.items()))
    if failed:
        raise typer.Exit(TRIAL_FAILED)


@app.command("down")
def down(
    devices: Annotated[
        list[Path] | None, typer.Argument(metavar="[DEVICE]...", help="Such as /dev/loop0.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="End all of them.")] = False,
) -> None:
    """End modelled drives that `iostudy drive up` has started; their data are lost."""
    if bool(devices) == every:
        raise UsageError(
            "devices of modelled drives, or --all",
            found="both" if every else "neither",
            where="drive down",
            remedy="`iostudy drive status` lists the drives",
        )
    recovery = user_drive.stop(devices) if devices else user_drive.stop_all()
    for text in recovery.skip_reasons:
        say(f"left alone: {text}")
    report_recovery(recovery)
    if recovery == Recovery():
        say("no modelled drive to end")


def _facts(drive: ModelledDrive) -> dict[str, str]:
    scheduler = read_scheduler(drive.device)
    facts = {
        "size": format_rounded_size(drive.size_bytes),
        "scheduler": scheduler.current if scheduler else "none",
        "server": f"{drive.image}",
    }
    return facts | ({"NBD": _nbd_uri(drive)} if drive.socket.exists() else {})


def _nbd_uri(drive: ModelledDrive) -> str:
    """Address of the server in the form of doc/uri.md of NetworkBlockDevice/nbd."""
    return f"nbd+unix:///?socket={quote(str(drive.socket))}"


def _statistics(drive: ModelledDrive) -> dict[str, str]:
    recorded = drive.read_statistics()
    statistics = DriveStatistics.from_json(recorded)
    late = {share: statistics.lateness_percentile(share) / 1e3 for share in (0.5, 0.99)}
    counts = ", ".join(f"{recorded[name]} {name}" for name in ("reads", "writes", "flushes"))
    mean = format_significant(statistics.mean_service_ns / 1e6)
    return {
        "commands": f"{counts}; mean service time {mean} ms",
        "in flight": f"{recorded['most_in_flight']} at most; {recorded['over_depth']} over the "
        "queue",
        "lateness": f"median {format_significant(late[0.5])} us, "
        f"99th percentile {format_significant(late[0.99])} us",
        "memory": f"{format_rounded_size(recorded['memory_bytes'])} of "
        f"{format_rounded_size(recorded['memory_limit_bytes'])}",
        "real-time priority": "yes" if recorded["realtime"] else "no",
    }


def _as_json(drive: ModelledDrive) -> dict[str, Any]:
    try:
        device, statistics = str(drive.device.path), drive.read_statistics()
    except IostudyError as error:
        return {"model": drive.model, "up": False, "lacks": str(error)}
    return {
        "model": drive.model,
        "up": True,
        "device": device,
        "nbd": _nbd_uri(drive) if drive.socket.exists() else None,
        "size_bytes": drive.size_bytes,
        "statistics": statistics,
    }


app.command("measure")(measure)
