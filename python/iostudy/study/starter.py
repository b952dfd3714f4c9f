"""Commented study file to start from, for one workload on one host (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from iostudy import units
from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.scratch import ScratchTarget
from iostudy.visible import visible
from iostudy.workloads.definition import WorkloadDefinition
from iostudy.workloads.option_text import example_options, format_flow

StarterTarget = DirectoryTarget | LoopbackTarget | ScratchTarget

_OPTION_LEVELS: Mapping[str, list[Any] | dict[str, Any]] = {
    "direct": [False, True],
    "record_size": ["1MiB", "64KiB"],
    "threads": [1, 4],
    "fsync": [True, False],
    "reduces": [1, 4],
    "bytes_to_write": [0, "64KiB"],
    "jobs": [1, 4],
    "override": {"4k": {"bs": "4k"}, "64k": {"bs": "64k"}},
    "run": {
        "1M": "dd if=/dev/zero of={target}/zeros bs=1M count=64 conv=fsync",
        "64k": "dd if=/dev/zero of={target}/zeros bs=64k count=1024 conv=fsync",
    },
}
"""Options of workloads that make a first factor, in the order of preference."""
_MEMORY_FACTOR = "vm.dirty_ratio"
"""For the rest, which write through the page cache."""
_MEMORY_LEVELS = (20, 40)


@dataclass(frozen=True)
class StarterDevice:
    """The device under test and its queue as found; an empty text is unknown."""

    name: str
    model: str
    rotational: bool | None
    scheduler: str
    schedulers: tuple[str, ...]
    read_ahead_kb: str


@dataclass(frozen=True)
class StarterHost:
    """Facts of the host that choose factors and stand in comments.

    ``device`` is the one with a queue below the target, or None. ``root``: the user is root.
    """

    name: str
    kernel: str
    cpus: int
    memory_bytes: int
    device: StarterDevice | None
    root: bool


def starter_disk_bytes(workload: WorkloadDefinition) -> int:
    """Return the size of a loopback disk that holds the example's files, in whole GiB."""
    needed = 4 * workload.make(example_options(workload)).space_bytes()
    return max(1, -(-needed // units.GIB)) * units.GIB


def render_starter(workload: WorkloadDefinition, target: StarterTarget, host: StarterHost) -> str:
    """Return the study file as YAML text."""
    factor, levels, why = _choose_factor(workload, target, host)
    options = dict(workload.example)
    if factor.startswith("block.") and _accepts(workload, "direct", [True]):
        options["direct"] = True
    lines = (
        *_describe_host(host),
        f"question: Does {factor} matter for {workload.name} on this host?",
        "",
        *target.starter_lines(),
        "",
        f"# What varies. {why}",
        "# `iostudy settings` lists more, and docs/settings.md documents them.",
        "factors:",
        f"  {factor}: {levels}",
        *_further_factors(factor, host),
        "",
        f"# {workload.summary}.",
        f"# `iostudy workloads {workload.name}` lists its options. This example takes about a",
        "# second; a trial of 10 s to 60 s has less noise: enlarge it before you decide.",
        "workloads:",
        f"  - {workload.name}: {format_flow(options)}",
        "",
        "# margin: smaller differences do not matter. risk: probability of any wrong verdict.",
        "# blocks: fewest and most repetitions of each configuration.",
        "decide: {margin: 5%, risk: 5%, blocks: [5, 20]}",
    )
    return "\n".join(lines) + "\n"


def _describe_host(host: StarterHost) -> Iterator[str]:
    memory = units.format_rounded_size(host.memory_bytes)
    system = f"Linux {host.kernel}, {host.cpus} CPUs, {memory}"
    yield f"# Written by iostudy init on {visible(host.name)}: {system}."
    device = host.device
    if device is not None:
        kind = {True: ", rotational", False: ", not rotational", None: ""}[device.rotational]
        model = f" ({visible(device.model)})" if device.model else ""
        offered = f"{device.scheduler} of {', '.join(device.schedulers)}"
        queue = f"scheduler {offered}; read_ahead_kb {device.read_ahead_kb}"
        yield f"# Device below the target: {visible(device.name)}{model}{kind}; {queue}."
    yield ""


def _choose_factor(
    workload: WorkloadDefinition, target: StarterTarget, host: StarterHost
) -> tuple[str, str, str]:
    """Return factor, levels as YAML, and the reason."""
    has_queue = target.is_made or host.device is not None
    if host.root and has_queue:
        return (
            "block.scheduler",
            "offered",
            "Every scheduler that the kernel offers; none is first.",
        )
    options = (name for name, flow in _OPTION_LEVELS.items() if _accepts(workload, name, flow))
    name = next(options, None)
    if name is not None:
        return (
            f"workload.{name}",
            format_flow(_OPTION_LEVELS[name]),
            "The first level is the baseline.",
        )
    if has_queue:
        return "block.scheduler", "offered", "Only root can run a study that varies a setting."
    levels = format_flow(list(_MEMORY_LEVELS))
    return _MEMORY_FACTOR, levels, "A setting of the host: root has to run this study."


def _accepts(workload: WorkloadDefinition, name: str, levels: list[Any] | dict[str, Any]) -> bool:
    """Whether the workload has the option, and the example is valid with each of the levels."""
    try:
        for level in levels.values() if isinstance(levels, dict) else levels:
            workload.options.model_validate({**workload.example, name: level})
    except ValidationError:
        return False
    return True


def _further_factors(factor: str, host: StarterHost) -> Iterator[str]:
    if not factor.startswith("block."):
        return
    device = host.device
    now = f"   # {device.read_ahead_kb} now" if device and device.read_ahead_kb else ""
    yield f"  # block.read_ahead_kb: [128, 1024, 4096]{now}; matters for buffered reads"
    yield "  # block.nr_requests: [64, 256]; with scheduler none at most the queue depth"
