"""``iostudy init`` and ``schema``: a commented study file, and the JSON Schema of study files."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from iostudy.cli.arguments import UnsafeFolders, usage_error
from iostudy.cli.console import print_text, say
from iostudy.cli.workloads import require_workload
from iostudy.errors import TargetError, UsageError
from iostudy.host import devices, inventory, stack
from iostudy.output_file import OutputFile
from iostudy.settings.scratch.disk import ScratchDevice
from iostudy.study.json_schema import render_schema
from iostudy.study.starter import (
    StarterDevice,
    StarterHost,
    StarterTarget,
    render_starter,
    starter_disk_bytes,
)
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.scratch import ScratchTarget
from iostudy.workloads.definition import WorkloadDefinition

_Answer = TypeVar("_Answer")
_LOOPBACK = "loopback"
_DEFAULT_WORKLOAD = "io"


def init(
    file: Annotated[
        OutputFile,
        typer.Argument(
            parser=OutputFile, help="File to write, which must not exist; - for standard output."
        ),
    ] = "study.yaml",  # type: ignore[assignment]  # the parser gets it
    target: Annotated[
        str | None,
        typer.Option(
            help="A directory, a device whose data may be destroyed, or loopback.",
            show_default="prompt",
        ),
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help="A workload of `iostudy workloads`.", show_default="prompt")
    ] = None,
    unsafe_folders: UnsafeFolders = False,
) -> None:
    """Write a commented study file for this host.

    It asks for target and workload unless the options name them. `iostudy check` accepts the file.
    """
    file.require_safe(insist=unsafe_folders, new=True)
    chosen = (
        _ask("target", "Directory, device or loopback", "." if os.geteuid() else _LOOPBACK, _target)
        if target is None
        else _target(target)
    )
    definition = (
        _ask("workload", "Workload (`iostudy workloads` lists them)", _DEFAULT_WORKLOAD, _workload)
        if workload is None
        else _workload(workload)
    )
    place = _place(chosen, definition)
    text = render_starter(definition, place, _host(place))
    if file.is_stdout:
        print_text(text)
        return
    with file.open_new() as opened:
        opened.write(text.encode())
    say(f"wrote {file.name}; next: iostudy check {file.name}")


def _ask(option: str, question: str, default: str, parse: Callable[[str], _Answer]) -> _Answer:
    """Ask until ``parse`` accepts the answer; a UsageError of it is printed."""
    if not sys.stdin.isatty():
        raise usage_error(
            f"the {option}",
            "no option, and no terminal to ask on",
            f"give --{option}, such as --{option} {default}",
        )

    def parse_answer(text: str) -> _Answer:
        try:
            return parse(text)
        except UsageError as error:
            raise typer.BadParameter(f"{error.found}; {error.remedy}") from error

    answer: _Answer = typer.prompt(question, default=default, err=True, value_proc=parse_answer)
    return answer


def _workload(name: str) -> WorkloadDefinition:
    definition = require_workload(name)
    if definition.only_simulated:
        raise usage_error(
            "a workload that runs on a host",
            f"{name} runs on a simulated drive only",
            f"choose another one; `iostudy workloads {name}` has an example of this one",
        )
    return definition


def _target(name: str) -> str:
    """Return the target as given; UsageError if it is none."""
    path = Path(name)
    if name == _LOOPBACK or path.is_dir() or path.is_block_device():
        return name
    raise UsageError(
        "a directory, a block device or loopback",
        found="no such directory or device" if not path.exists() else "another kind of file",
        where=name,
        remedy="create the directory, or see `lsblk` for the devices",
    )


def _place(name: str, workload: WorkloadDefinition) -> StarterTarget:
    if name == _LOOPBACK:
        return LoopbackTarget(starter_disk_bytes(workload))
    path = Path(name)
    if not path.is_block_device():
        return DirectoryTarget(path.resolve())
    if os.geteuid() == 0:  # only root can see whether a device is free
        ScratchDevice.prepare(path, Path())
    return ScratchTarget(path)


def _host(target: StarterTarget) -> StarterHost:
    host = inventory.collect_inventory()
    return StarterHost(
        name=platform.node(),
        kernel=str(host["kernel"]["release"]),
        cpus=host["cpu"]["count"] or os.cpu_count() or 1,
        memory_bytes=host["memory_bytes"] or 0,
        device=_device(target),
        root=os.geteuid() == 0,
    )


def _device(target: StarterTarget) -> StarterDevice | None:
    """Return the device whose queue has a scheduler below a directory or device, if any."""
    named = target.named_paths(Path())
    place = named.device or named.directory
    if place is None:
        return None
    try:
        device = stack.scheduling_devices(place)[0]
    except TargetError:
        return None
    scheduler = devices.read_scheduler(device)
    assert scheduler is not None
    return StarterDevice(
        name=device.name,
        model=device.model,
        rotational=device.rotational,
        scheduler=scheduler.current,
        schedulers=scheduler.available,
        read_ahead_kb=inventory.read_queue(device).get("read_ahead_kb", ""),
    )


def schema() -> None:
    """Print the JSON Schema of study files, for editors.

    Editors use it for completion and hover texts.
    """
    print_text(render_schema())
