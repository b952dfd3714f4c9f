"""Workload that runs several workloads at the same time, to measure their interference."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    Field,
    SerializationInfo,
    create_model,
    model_serializer,
    model_validator,
)

from iostudy.errors import WorkloadStoppedError
from iostudy.workloads.aggregation import average_rounds, combine_workloads
from iostudy.workloads.concurrent_runs import ConcurrentRun, overlap_share
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.file_removal import remove
from iostudy.workloads.measurement import BYTES, Measurement
from iostudy.workloads.option_types import Options
from iostudy.workloads.page_cache import drop_folder
from iostudy.workloads.tick import Tick, continue_run
from iostudy.workloads.workload import Place, TargetPaths, Workload

NAME = "mix"
OVERLAP = "overlap"
ROUNDS = "rounds"

_FORM = "a workload is its name, or {name: {option: value}}"
_SEED_BYTES = 8


def _label(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,31}", text):
        raise ValueError(
            "not a label; write up to 32 of a-z, 0-9, - and _, a letter or digit first"
        )
    return text


Label = Annotated[str, AfterValidator(_label)]
"""The name of a member: its working folder and the prefix of its figures."""


class Member(Options):
    """One workload of a mix with its options: a field per workload, exactly one of them set."""

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        match value:
            case str():
                return {value: {}}
            case Mapping():
                return {name: {} if given is None else given for name, given in value.items()}
            case _:
                raise ValueError(_FORM)

    @model_validator(mode="after")
    def _only_one(self) -> Member:
        if len(self.model_fields_set) != 1:
            raise ValueError(_FORM)
        return self

    @property
    def name(self) -> str:
        """The name of the workload."""
        (name,) = self.model_fields_set
        return name

    @property
    def options(self) -> Options:
        """The options of the workload."""
        options = getattr(self, self.name)
        assert isinstance(options, Options)
        return options

    @model_serializer
    def _serialize(self, info: SerializationInfo) -> dict[str, Any]:
        dumped = self.options.model_dump(mode="json", exclude_defaults=info.exclude_defaults)
        return {self.name: dumped}


class MixOptions(Options):
    """Options of mix."""

    workloads: dict[str, Member]
    others: Literal["repeat", "once"] = Field(
        "repeat",
        description="all but the first: repeat until the first has ended, which stops them "
        "(repeat), or run once each, so that the slowest determines the time (once)",
    )

    @property
    def repeats(self) -> bool:
        """Whether the other members repeat."""
        return self.others == "repeat"


@dataclass(frozen=True)
class MixMember:
    """A member ready to be carried out, below the place of the mix."""

    label: str
    definition: WorkloadDefinition
    workload: Workload

    def place(self, place: Place, tick: Tick = continue_run) -> Place:
        """Its own folder, and a seed that no other member has."""
        digest = hashlib.blake2b(f"{place.seed} {self.label}".encode(), digest_size=_SEED_BYTES)
        seed = int.from_bytes(digest.digest()) >> 1  # 63 bits, as that of a study
        return replace(
            place, directory=place.directory / self.label, seed=seed, tick=tick, service=None
        )

    def prepare(self, place: Place) -> None:
        """Make its folder and prepare its trials. Obeys the tick of the mix."""
        folder = self.place(place, place.tick)
        folder.directory.mkdir(exist_ok=True)
        self.workload.prepare(folder)

    def renew(self, place: Place) -> None:
        """Between two rounds: undo what the one before has left, in the page cache too.

        Of its own files only: the machine's whole cache belongs to the first member as well.
        """
        member_place = self.place(place)
        self.workload.reset(member_place)
        if self.workload.reads():
            drop_folder(member_place.directory)

    def clean(self, place: Place) -> None:
        """Let it remove its files, then remove its folder."""
        member_place = self.place(place)
        if member_place.directory.exists():
            try:
                self.workload.clean(member_place)
            finally:
                remove(member_place.directory)

    def moved(self, player: ConcurrentRun) -> float | None:
        """Return the bytes of all its rounds, including a stopped one; None if unknown."""
        counts = [run.measured.figures.get(BYTES, math.nan) for run in player.rounds]
        if player.cut_off is not None:
            counts.append(player.cut_off if self.definition.ticks_bytes else math.nan)
        moved = math.fsum(counts)
        return None if math.isnan(moved) else moved

    def player(self, place: Place) -> ConcurrentRun:
        """Return it as a concurrent run."""
        return ConcurrentRun(run=partial(self.run, place), renew=partial(self.renew, place))

    def run(self, place: Place, tick: Tick) -> Measurement:
        measured = self.workload.run(self.place(place, tick))
        measured.verify()
        return measured


@dataclass(frozen=True)
class Mix(Workload):
    """Workloads that run concurrently, each in its folder; the first one is the subject."""

    members: tuple[MixMember, ...]
    repeats: bool

    def space_bytes(self) -> int:
        return sum(member.workload.space_bytes() for member in self.members)

    def expected_seconds(self, bytes_per_second: float) -> float | None:
        return None

    def reads(self) -> bool:
        return any(member.workload.reads() for member in self.members)

    def disks(self) -> frozenset[str]:
        return frozenset().union(*(member.workload.disks() for member in self.members))

    def directories(self) -> tuple[Path, ...]:
        return tuple(path for member in self.members for path in member.workload.directories())

    def places(self, place: Place) -> tuple[Path, ...]:
        paths = (path for member in self.members for path in member.workload.places(place))
        return tuple(dict.fromkeys(paths))

    def contents(self) -> Iterable[tuple[str, str]]:
        return [content for member in self.members for content in member.workload.contents()]

    def check(self) -> None:
        for member in self.members:
            member.workload.check()

    def check_target(self, target: TargetPaths) -> None:
        for member in self.members:
            member.workload.check_target(target)

    def preparation(self) -> str:
        """Mixes share their data when every member would."""
        return json.dumps(
            [
                (member.label, member.definition.name, member.workload.preparation())
                for member in self.members
            ]
        )

    def prepare(self, place: Place) -> None:
        for member in self.members:
            member.prepare(place)

    def reset(self, place: Place) -> None:
        for member in self.members:
            member.workload.reset(member.place(place))

    def run(self, place: Place) -> Measurement:
        players = {member.label: member.player(place) for member in self.members}
        first, *others = players.values()
        machine = place.machine
        if not machine.run_concurrently(first, others, place.tick, repeat_others=self.repeats):
            raise WorkloadStoppedError(
                "to run several workloads at the same time", where=str(place.directory)
            )
        return self._measured(players)

    def unsteady_reason(self) -> str:
        return "a mix measures whole runs of its first job; make that job a workload of its own"

    def clean(self, place: Place) -> None:
        """Remove what every member has made, also where another one's cannot be removed."""
        with ExitStack() as cleaning:
            for member in self.members:
                cleaning.callback(member.clean, place)

    def _measured(self, players: Mapping[str, ConcurrentRun]) -> Measurement:
        first, *others = players.values()
        until = first.rounds[0].ended if self.repeats else math.inf
        counted = {
            label: [run.measured for run in player.rounds if run.ended <= until]
            for label, player in players.items()
        }
        combined = combine_workloads(
            {label: average_rounds(rounds) for label, rounds in counted.items()}
        )
        figures = {OVERLAP: 100 * overlap_share(first, others)}
        if self.repeats:
            figures |= {
                f"{m.label}.{ROUNDS}": float(len(counted[m.label])) for m in self.members[1:]
            }
        moved, notes = self._moved(players)
        notes += tuple(
            f"{label}: no round of it came to its end before the first workload did, so it has no "
            "figures; give it less to do in a round, or the first one more"
            for label, rounds in counted.items()
            if not rounds
        )
        return replace(
            combined, figures={**combined.figures, **figures, **moved}, notes=combined.notes + notes
        )

    def _moved(
        self, players: Mapping[str, ConcurrentRun]
    ) -> tuple[dict[str, float], tuple[str, ...]]:
        """Return the bytes of all members if known, else a note on those that are not."""
        moved = {member.label: member.moved(players[member.label]) for member in self.members}
        unknown = [label for label, count in moved.items() if count is None]
        if unknown:
            who = ", ".join(unknown)
            return {}, (f"foreign I/O is not judged: what {who} moved in all is not known",)
        return {BYTES: math.fsum(count for count in moved.values() if count is not None)}, ()


def _figures(
    definitions: Mapping[str, WorkloadDefinition], options: MixOptions
) -> tuple[Figure, ...]:
    first = next(iter(options.workloads))
    figures = [
        _figure_of(label, figure, mean=options.repeats and label != first)
        for label, member in options.workloads.items()
        for figure in definitions[member.name].figures(member.options)
    ]
    if options.repeats:
        for label in (label for label in options.workloads if label != first):
            words = f"how often {label} came to its end while {first} was at work"
            figures.append(Figure(f"{label}.{ROUNDS}", "rounds", words, True))
    overlap = f"share of the time of {first} during which all the others were at work"
    moved = "bytes that all moved, those of rounds that were stopped included"
    return (*figures, Figure(OVERLAP, "%", overlap, True), Figure(BYTES, "B", moved, True))


def _part_figures(
    definitions: Mapping[str, WorkloadDefinition], options: MixOptions
) -> tuple[Figure, ...]:
    first = next(iter(options.workloads))
    return tuple(
        _figure_of(label, figure, mean=options.repeats and label != first)
        for label, member in options.workloads.items()
        for figure in definitions[member.name].part_figures(member.options)
    )


def _figure_of(label: str, figure: Figure, *, mean: bool) -> Figure:
    words = f"{label}: {figure.documentation}"
    if mean:
        words += " (mean over its complete rounds)"
    return replace(figure, name=f"{label}.{figure.name}", documentation=words)


def _make(definitions: Mapping[str, WorkloadDefinition], options: MixOptions) -> Mix:
    members = tuple(
        MixMember(label, definitions[member.name], definitions[member.name].make(member.options))
        for label, member in options.workloads.items()
    )
    return Mix(members, options.repeats)


def _options_model(definitions: Iterable[WorkloadDefinition]) -> type[MixOptions]:
    """MixOptions that know the options of every workload, so that each error has its place."""
    fields: dict[str, Any] = {kind.name: (kind.options | None, None) for kind in definitions}
    member = create_model("MixMember", __base__=Member, **fields)
    members = dict[Label, member]  # type: ignore[valid-type]
    described = Field(
        min_length=2,
        description="workloads by label, as {label: {name: {option: value}}}; the first one is "
        "the subject",
    )
    return create_model("MixOptions", __base__=MixOptions, workloads=(members, described))


def definition(definitions: Mapping[str, WorkloadDefinition]) -> WorkloadDefinition:
    """Return the mix of any of these workloads by name; mixes do not nest."""
    return WorkloadDefinition(
        name=NAME,
        models="concurrent users of one storage: how a neighbour slows the first, as on a shared "
        "/home. The effect of the first on the neighbour is reported as well",
        not_modelled="separate processes and hosts: all members are threads of this process, so a "
        "member that computes in Python slows the Python code of others, but not their I/O "
        "loops; shares and limits of users, which a cgroup would set",
        source="report R3: jobs of a cluster that overloaded its shared /home",
        options=_options_model(definitions.values()),
        figures=partial(_figures, definitions),
        part_figures=partial(_part_figures, definitions),
        example={
            "workloads": {
                "foreground": {"io": {"size": "64MiB"}},
                "neighbour": {"io": {"operation": "write", "size": "16MiB", "sync": "fsync"}},
            }
        },
        make=partial(_make, definitions),
        can_be_simulated=True,
    )
