"""``iostudy drive measure``: parameters of a drive by timed direct requests."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from iostudy import durable
from iostudy.cli.arguments import Json, UnsafeFolders, Yes, parse_positive_time_option
from iostudy.cli.consent import Consent, ask_destruction
from iostudy.cli.console import err, print_json, print_line, print_table, say
from iostudy.errors import TargetError
from iostudy.folders import make_output_folder
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.node.block_device_prober import open_prober
from iostudy.prober import BLOCK_BYTES, Prober
from iostudy.report.render.html import render_page
from iostudy.settings.scratch import steps
from iostudy.units import format_rounded_size, format_seconds, format_size
from iostudy_lab.cli.document import build_drive_document, list_parameters
from iostudy_lab.drives import presets
from iostudy_lab.drives.measure.drive_text import Origin, format_drive_file
from iostudy_lab.drives.measure.measure_drive import measure_drive
from iostudy_lab.drives.measure.modelled import ModelProber
from iostudy_lab.drives.measure.rates import SMALLEST_BYTES
from iostudy_lab.drives.measure.result import DriveMeasurement
from iostudy_lab.drives.measure.session import Session

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def measure(
    target: Annotated[
        str,
        typer.Argument(
            metavar="DEVICE|PATH|NAME",
            help="A block device, a path on it, or a modelled drive on its virtual clock.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the drive file and the page.")] = Path(
        "drives"
    ),
    time_limit: Annotated[
        str, typer.Option(help="End after this time with what is known, such as 10min.")
    ] = "30min",
    write_scratch: Annotated[
        bool,
        typer.Option(
            "--write-scratch",
            help="Also measure writes, which destroys all data on the device.",
        ),
    ] = False,
    yes: Yes = False,
    json: Json = False,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Measure rotation, seeks, zones, caches and queue of a drive; write a drive file and a page.

    Reads bypass the page cache, and no setting is changed. A device without rotation gets no drive
    file. Other load on the drive widens the intervals.
    """
    limit_ns = round(parse_positive_time_option("--time-limit", time_limit, "10min") * 1e9)
    make_output_folder(out, insist=unsafe_folders)
    opened = _open(target, Consent(destroy=yes), write=write_scratch)
    with opened as (prober, name), _progress() as report:
        session = Session(prober, limit_ns, report)
        measured = measure_drive(session, write=write_scratch)
    _write_files(measured, name, out)
    if json:
        print_json(_as_json(measured, name))
        return
    print_line(name, style="bold")
    print_table(("", ""), list_parameters(measured))
    for figure in measured.missing:
        say(f"not measured: {figure}")


@contextmanager
def _open(target: str, consent: Consent, *, write: bool) -> Iterator[tuple[Prober, str]]:
    """Prober of the target, and its name."""
    if target in presets.names():
        yield ModelProber(presets.load(target)), f"model of {presets.load(target).name}"
        return
    device = _find_device(target)
    if not write:
        with open_prober(device.path, device, write=False) as prober:
            yield prober, _device_name(device)
        return
    steps.require_no_signature(device.path)
    identity = ask_destruction(device.path, "iostudy drive measure", consent)
    with steps.open_verified(device.path, identity) as descriptor:
        path = steps.descriptor_path(descriptor)
        steps.require_no_signature(path)
        with open_prober(path, device, write=True) as prober:
            yield prober, _device_name(device)


def _find_device(target: str) -> BlockDevice:
    devices = stack.find_devices(target)
    if len(devices) != 1:
        names = ", ".join(device.name for device in devices) or "none"
        raise TargetError(
            "one block device, or a modelled drive",
            found=f"{len(devices)} devices: {names}",
            where=target,
            remedy="name a device such as /dev/sda; `iostudy drives` lists the models",
        )
    [device] = devices
    if device.size_bytes < SMALLEST_BYTES:
        raise TargetError(
            f"a drive of at least {format_size(SMALLEST_BYTES)}",
            found=format_rounded_size(device.size_bytes),
            where=str(device.path),
            remedy="name a larger drive: on this one the reads are too short for a rate",
        )
    return device


def _device_name(device: BlockDevice) -> str:
    return f"{device.model} ({device.path})" if device.model else str(device.path)


@contextmanager
def _progress() -> Iterator[Any]:
    """Receiver of stages: a live line on a terminal, else a line for each stage."""
    if not err.is_interactive:
        printed: list[str] = []

        def print_stage(stage: str, _share: float) -> None:
            if stage not in printed:
                printed.append(stage)
                say(f"measuring: {stage}")

        yield print_stage
        return
    with err.status("rotation") as status:
        yield lambda stage, share: status.update(f"{stage} {share:.0%}")


def _write_files(measured: DriveMeasurement, name: str, folder: Path) -> None:
    """Write the page, and the drive file of a disk."""
    now = datetime.now().astimezone()
    circumstances = (
        f"{now:%Y-%m-%d}, {name}, Linux {platform.release()}, {measured.requests} requests in "
        f"{format_seconds(measured.seconds)}, reads of {measured.unit * BLOCK_BYTES} bytes"
    )
    stem = _NOT_IN_NAMES.sub("-", name).strip("-")
    page = folder / f"{stem}.html"
    document = build_drive_document(measured, name)
    durable.write_whole(page, render_page(circumstances, document).encode())
    say(f"written: {page}")
    text = format_drive_file(measured, Origin(name, now.year, circumstances))
    if text is not None:
        path = folder / f"{stem}.yaml"
        durable.write_whole(path, text.encode())
        say(f"written: {path}; `iostudy drives {path}` describes it")


def _as_json(measured: DriveMeasurement, name: str) -> dict[str, Any]:
    """Every measured value; names end with their unit. Blocks have 512 bytes."""
    return {"name": name, **asdict(measured)}
