"""Base of the three forms of declared settings: places, commands, values and changes.

The journal record of a change holds the commands with all their arguments, the search path and the
time-out, so that a recovery reads no file with declarations.
"""

from __future__ import annotations

import errno
import os
import pwd
import shlex
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from iostudy.errors import IostudyError, RestoreError, SettingError, TargetError
from iostudy.host import stack
from iostudy.host.devices import BlockDevice
from iostudy.safe_path import require_safe_program
from iostudy.settings import attributes, commands
from iostudy.settings.attributes import AttributeChange, Attributes
from iostudy.settings.change import WHOLE_HOST, ConflictPolicy, Record, RestoredValue
from iostudy.settings.commands import CommandError
from iostudy.settings.definitions.declared import DeclaredDefinition, Place, fill, is_same
from iostudy.settings.filesystem_location import FilesystemLocation
from iostudy.settings.identity import DeviceIdentity
from iostudy.settings.kinds.bdi import mount_of
from iostudy.settings.kinds.queue import request_queues
from iostudy.settings.sysctl_keys import normalise_blanks
from iostudy.visible import visible

MAX_VALUE_BYTES = 4095
"""Longest value, which the kernel takes in one write."""


@dataclass(frozen=True)
class Location:
    """One place of a setting: its name for a person, its placeholders, and its identity."""

    name: str = "this host"
    placeholders: tuple[tuple[str, str], ...] = ()
    device: DeviceIdentity | None = None
    mounted: FilesystemLocation | None = None

    def fill(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Return the texts with the place in them."""
        return tuple(fill(text, self.placeholders) for text in texts)


def locate(place: Place, path: str) -> tuple[Location, ...]:
    """Return each location of a kind of place at or below ``path``; TargetError if none."""
    match place:
        case Place.HOST:
            return (Location(),)
        case Place.DISK:
            return tuple(map(_at_device, request_queues(path)))
        case Place.VOLUME:
            return tuple(map(_at_device, stack.top_devices(path)))
        case Place.MOUNT:
            mount = mount_of(path)
            point = str(mount.point)
            placeholders = (("mount", point), ("source", mount.source))
            mounted = FilesystemLocation.find(mount.point)
            return (Location(point, placeholders, mounted=mounted),)


def _at_device(device: BlockDevice) -> Location:
    values = {"name": device.name, "path": str(device.path), "number": device.number}
    return Location(device.name, tuple(values.items()), DeviceIdentity.from_device(device))


@dataclass(frozen=True)
class Runner:
    """How commands of a setting run: for ``seconds`` at most, with programs from ``path``."""

    seconds: float
    path: str

    @classmethod
    def of(cls, definition: DeclaredDefinition) -> Self:
        """Return that of a definition, with the search path of this process."""
        return cls(definition.seconds, commands.SEARCH_PATH)

    def resolve(self, command: tuple[str, ...], what: str) -> tuple[str, ...]:
        """Return the command with its program's whole path.

        TargetError if it is not there, UnsafePathError if another user could replace it.
        """
        if not command:
            return ()
        program = shutil.which(command[0], path=self.path)
        if program is None:
            raise TargetError(
                f"the program {command[0]} of {what}",
                found="it is not installed, or not executable",
                where=self.path,
                remedy="install it, or leave the setting out",
            )
        require_safe_program(Path(program))
        return (program, *command[1:])

    def run(self, command: tuple[str, ...], text: str = "") -> str:
        """Run it with a text as its input, and return its output; OSError with the reason."""
        environment = {"PATH": self.path, "LC_ALL": "C", "HOME": _home()}
        try:
            require_safe_program(Path(command[0]))
            return commands.run_kept(
                *command, seconds=self.seconds, text=text, environment=environment
            )
        except (CommandError, IostudyError) as error:
            reason = error.found if isinstance(error, IostudyError) else str(error)
            raise OSError(errno.EIO, f"`{shlex.join(command)}`: {visible(reason)}") from error


def _home() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return "/"


@dataclass(frozen=True)
class ValueForm:
    """How a value that was read becomes one that levels have."""

    equals: tuple[tuple[str, str], ...]
    normalise: tuple[str, ...]

    def convert(self, text: str, runner: Runner) -> str:
        """Return the value of a text.

        ValueError if it is not one line of printable text, OSError as of a command.
        """
        if self.normalise:
            text = runner.run(self.normalise, text)
        value = text.strip()
        value = value if "\n" in value else normalise_blanks(value)
        if not value:
            raise ValueError("nothing")
        if len(value.encode(errors="surrogateescape")) > MAX_VALUE_BYTES:
            raise ValueError(f"more than {MAX_VALUE_BYTES} bytes")
        if not value.isprintable():
            raise ValueError(f"not a line of printable text: {value[:60]!r}")
        return dict(self.equals).get(value, value)


@dataclass(frozen=True)
class DeclaredOwner:
    """Base of the owners of declared settings; each form adds how a value is read and written.

    ``mounted`` is the file system on the mount point ``name``, for commands.
    """

    kind: ClassVar[str]
    refused_by: ClassVar[str]
    side_effects: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    name: str
    runner: Runner
    form: ValueForm
    device: DeviceIdentity | None
    mounted: FilesystemLocation | None = field(default=None, kw_only=True)

    @classmethod
    def from_record(cls, record: Record) -> Self:
        """Rebuild from ``record``, of older versions without the file system.

        The values of JSON become those of the fields.
        """
        device = record["device"]
        form = record["form"]
        values = {
            **{key: _as_tuple(value) for key, value in record.items()},
            "runner": Runner(**record["runner"]),
            "form": ValueForm(_as_tuple(form["equals"]), _as_tuple(form["normalise"])),
            "device": None if device is None else DeviceIdentity.from_record(device),
            "mounted": FilesystemLocation.from_record(record.get("mounted")),
        }
        return cls(**values)

    def record(self) -> Record:
        return asdict(self)

    def absence_reason(self) -> str | None:
        """Return the reason if its device is gone; a setting of the host never is."""
        if self.mounted is not None and self.mounted.has_ended:
            return "the host has been rebooted"
        return None if self.device is None else self.device.absence_reason()

    def require_reachable(self, wanted: str, by_hand: str) -> None:
        if self.mounted is not None:
            self.mounted.require_mounted(Path(self.name), wanted)

    def affected_resources(self) -> tuple[str, ...]:
        return (WHOLE_HOST,) if self.device is None else (self.device.name,)

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        """Return those that reset others first."""
        return sorted(attributes, key=lambda name: (name not in self.side_effects, name))

    def available_values(self, attribute: str) -> tuple[str, ...]:
        return ()

    def settle(self) -> None:
        """Make what was written effective; OSError if that fails."""


def _as_tuple(value: Any) -> Any:
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


class DeclaredAttributes(Attributes, Protocol):
    """An owner of declared settings."""

    refused_by: ClassVar[str]

    def require_reachable(self, wanted: str, by_hand: str) -> None:
        """OutOfReachError if another file system, or another disk, is in its place now."""

    def settle(self) -> None:
        """Make what was written effective; OSError if that fails."""

    def by_hand(self, attribute: str, value: str) -> str:
        """Return what a person types or does to write the value."""


@dataclass(frozen=True)
class DeclaredChange(AttributeChange):
    """A change of one declared setting."""

    owner: DeclaredAttributes

    @property
    def _refused_by(self) -> str:
        return self.owner.refused_by

    def apply(self) -> None:
        """Write, read back, and make it effective; SettingError, after an undo, if that fails."""
        super().apply()
        try:
            self.owner.settle()
        except OSError as error:
            self.undo(ConflictPolicy.OVERWRITE)
            raise self._not_effective(error) from error

    def undo(
        self, policy: ConflictPolicy = ConflictPolicy.REPORT
    ) -> tuple[str | RestoredValue, ...]:
        """Restore the value, and make that effective even if the value is already restored.

        A crash between both leaves no other trace. A value that cannot be read now is written.
        OutOfReachError if it would be that of another file system.
        """
        if self.owner.absence_reason():
            return super().undo(policy)
        steps = self._by_hand(self.before)
        self.owner.require_reachable(f"to restore {self.describe_originals()}", steps)
        try:
            done = self._undo_readable(policy)
            self.owner.settle()
        except (OSError, SettingError) as error:
            fault = error.strerror if isinstance(error, OSError) else error.found
            raise RestoreError(
                f"to restore {self.describe_originals()}",
                found=str(fault),
                where=", ".join(map(self.owner.location, self.before)),
                remedy=self._by_hand(self.before),
            ) from error
        return done

    def _undo_readable(self, policy: ConflictPolicy) -> tuple[str | RestoredValue, ...]:
        try:
            return super().undo(policy)
        except SettingError:
            for attribute, value in self.before.items():
                self.owner.write(attribute, value)
            return super().undo(policy)

    def describe_originals(self) -> str:
        """``zfs.recordsize = 131072``, for every attribute."""
        return ", ".join(
            f"{self._describe_attribute(name)} = {value}" for name, value in self.before.items()
        )

    def _prove(self, attribute: str, value: str) -> None:
        super()._prove(attribute, value)
        try:
            self.owner.settle()
        except OSError as error:
            raise self._not_effective(error) from error

    def _not_effective(self, error: OSError) -> SettingError:
        return SettingError(
            f"to make {', '.join(map(self._describe_attribute, self.after))} effective",
            found=str(error.strerror),
            where=", ".join(map(self.owner.location, self.after)),
            remedy="correct the command `after` of the setting",
        )

    def _is_same(self, one: str | None, other: str | None) -> bool:
        return one == other or (one is not None and other is not None and is_same(one, other))

    def _by_hand(self, attributes: Iterable[str]) -> str:
        steps = [self.owner.by_hand(name, self.before[name]) for name in attributes]
        return f"use, before `iostudy restore`: {'; '.join(steps)}"


prepare_changes = partial(attributes.prepare_changes, prepare=DeclaredChange.prepare)
"""Prepare a change for each owner of declared settings."""


def cannot_read(
    attribute: str, where: str, error: OSError | ValueError, remedy: str
) -> SettingError:
    """Return the error for a value that cannot be read."""
    fault = error.strerror if isinstance(error, OSError) else f"it is {error}"
    return SettingError(f"to read {attribute}", found=str(fault), where=where, remedy=remedy)
