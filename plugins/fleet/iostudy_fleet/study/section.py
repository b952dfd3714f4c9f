"""Section `nodes` of a study file: where `iostudy fleet` finds the nodes that run the study."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, assert_never

from pydantic import AfterValidator, Field, PlainValidator, StringConstraints

from iostudy.folders import FLEET_FILES
from iostudy.study.fields import NOT_TRUE, STRICT_KEYS, StudySection
from iostudy.study.model import CommandSection, Study
from iostudy.study.names import find_duplicates
from iostudy.study.study_file import CommandKey
from iostudy.workloads.option_types import Seconds

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
"""Name of a node; its results have a folder of that name."""
MAX_HOSTS = 10_000
_MAX_OPTIONS = 100
_WAIT_SECONDS = 600.0


def _long_option(text: str) -> str:
    if not text.startswith("--"):
        raise ValueError("write long options with their values, such as --account=bench")
    return text


Text = Annotated[str, StringConstraints(min_length=1)]
LongOption = Annotated[str, AfterValidator(_long_option)]


@dataclass(frozen=True)
class SshHosts:
    """Hosts or aliases for ssh, perhaps with a user (``USER@HOST``); ValueError for equal names."""

    hosts: tuple[str, ...]

    def __post_init__(self) -> None:
        require_names(map(name_of_host, self.hosts))

    def describe(self) -> str:
        """Describe the nodes for a person."""
        return ", ".join(map(name_of_host, self.hosts))


@dataclass(frozen=True)
class InventoryHosts:
    """Hosts of an Ansible inventory; ``limit`` has groups or hosts, none for all."""

    file: Path
    limit: tuple[str, ...] = ()

    def describe(self) -> str:
        """Describe the nodes for a person."""
        return f"{', '.join(self.limit) or 'all hosts'} of {self.file}"


@dataclass(frozen=True)
class SlurmJob:
    """Whole nodes of Slurm, for the time of one command of `iostudy fleet`."""

    __pydantic_config__ = STRICT_KEYS

    nodes: Annotated[int, Field(ge=1, le=MAX_HOSTS), NOT_TRUE]
    """number of nodes"""
    partition: Text | None = None
    """partition of the nodes; that of Slurm by default"""
    time: Annotated[Seconds, Field(gt=0)] | None = None
    """time limit of the job, such as 8h, which ends the study; that of the partition by default"""
    wait: Annotated[Seconds, Field(gt=0)] = _WAIT_SECONDS
    """longest time until Slurm grants the nodes"""
    options: Annotated[tuple[LongOption, ...], Field(max_length=_MAX_OPTIONS)] = ()
    """further options of salloc, such as [--account=bench, --constraint=nvme]"""

    @property
    def time_minutes(self) -> int | None:
        """The time limit in Slurm's unit."""
        return None if self.time is None else math.ceil(self.time / 60)

    def describe(self) -> str:
        """Describe the nodes for a person."""
        where = f", partition {self.partition}" if self.partition else ""
        return f"{self.nodes} {'node' if self.nodes == 1 else 'nodes'} of Slurm{where}"


NodeOrigin = SshHosts | InventoryHosts | SlurmJob


@dataclass(frozen=True)
class FleetNodes(CommandSection):
    """The origin of the nodes, and how iostudy reaches them; None for what is usual."""

    origin: NodeOrigin
    python: str | None = None
    sudo: bool = False

    @property
    def number(self) -> int | None:
        """The number of nodes; None if it is not written in the study or the command line."""
        match self.origin:
            case SshHosts(hosts):
                return len(hosts)
            case SlurmJob() as job:
                return job.nodes
            case InventoryHosts():
                return None
            case unreachable:
                assert_never(unreachable)

    def describe(self) -> str:
        """Describe the nodes for a person."""
        return f"{self.origin.describe()}, for `iostudy fleet`"

    def explain_run(self, study: str) -> str:
        """Return that one host runs the study, and the command for all nodes."""
        command = shlex.join(["iostudy", "fleet", "run", study])
        return f"this host alone runs the study; `{command}` runs it on {self.origin.describe()}"

    def with_options(self, *, python: str | None, sudo: bool) -> FleetNodes:
        """Return the same nodes; options of a command line take precedence over their own."""
        return replace(self, python=python or self.python, sudo=sudo or self.sudo)


def name_of_host(host: str) -> str:
    """The name of a node that ``USER@HOST`` reaches."""
    return host.rpartition("@")[2]


def require_names(names: Iterable[str]) -> None:
    """ValueError unless each node has a name of its own that can be a folder of the run."""
    given = tuple(names)
    for name in given:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of letters, digits, '.', '-' and '_'")
    if files := [name for name in given if name.lower() in FLEET_FILES]:
        raise ValueError(f"{', '.join(files)} is the name of a file of the run")
    if twice := find_duplicates(given):
        raise ValueError(f"{', '.join(twice)} is listed twice")


Texts = Annotated[list[Text], Field(min_length=1, max_length=MAX_HOSTS)]


class NodesSection(StudySection):
    """Where the nodes of a fleet come from: one of ssh, inventory and slurm."""

    ssh: Texts | None = None
    """hosts or aliases of OpenSSH, perhaps with a user, such as [node01, root@node02]"""
    inventory: Text | None = None
    """file of an Ansible inventory"""
    limit: Texts | None = None
    """groups or hosts of the inventory; all by default"""
    slurm: SlurmJob | None = None
    """whole nodes of the batch system Slurm, such as {nodes: 4, partition: bench}"""
    python: Text | None = None
    """path of the Python of iostudy on the nodes; that of the controller by default"""
    sudo: bool = False
    """use sudo on the nodes"""

    def nodes(self) -> FleetNodes:
        """The section as the study's value; ValueError for keys that do not go together."""
        limit = tuple(self.limit or ())
        origins: list[NodeOrigin] = [
            *([SshHosts(tuple(self.ssh))] if self.ssh else []),
            *([InventoryHosts(Path(self.inventory), limit)] if self.inventory else []),
            *([self.slurm] if self.slurm else []),
        ]
        if len(origins) != 1:
            raise ValueError(
                "give one of ssh: [node01, node02], inventory: FILE and slurm: {nodes: 4}"
            )
        (origin,) = origins
        if self.limit and not isinstance(origin, InventoryHosts):
            raise ValueError("limit selects hosts of an inventory; leave it out")
        return FleetNodes(origin, self.python, self.sudo)


NodesValue = Annotated[
    FleetNodes | None,
    PlainValidator(
        lambda value: NodesSection.model_validate(value).nodes(),
        json_schema_input_type=NodesSection,
    ),
]
"""The nodes in a study file."""


KEY = CommandKey(
    NodesValue,
    "Where `iostudy fleet` finds the nodes that run the study, such as {ssh: [node01, node02]}.",
)


def find_nodes_of(study: Study) -> FleetNodes | None:
    """Return the nodes that a study names; None for none."""
    nodes = study.command_sections.get("nodes")
    assert nodes is None or isinstance(nodes, FleetNodes)
    return nodes
