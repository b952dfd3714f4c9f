"""Settings that one command prints and another one changes."""

from __future__ import annotations

import errno
import shlex
from dataclasses import dataclass
from typing import ClassVar

from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.declared import VALUE, CommandDefinition
from iostudy.settings.kinds.declared import (
    DeclaredOwner,
    Location,
    Runner,
    ValueForm,
    cannot_read,
    locate,
    prepare_changes,
)


@dataclass(frozen=True)
class CommandOwner(DeclaredOwner):
    """A pair of commands; its one attribute is the setting's name."""

    kind: ClassVar[str] = "command"
    refused_by: ClassVar[str] = "its command"

    reads: tuple[str, ...]
    writes: tuple[str, ...]

    def absence_reason(self) -> str | None:
        """Return no reason for a disk: it, or its metadata, may keep the value over a reboot."""
        keeps = self.device is not None and not self.device.is_loop
        return None if keeps else super().absence_reason()

    def require_reachable(self, wanted: str, by_hand: str) -> None:
        super().require_reachable(wanted, by_hand)
        if self.device is not None:
            self.device.require_same_disk(wanted, by_hand)

    def matching(self, pattern: str) -> tuple[str, ...]:
        return (pattern,)

    def read(self, attribute: str) -> str:
        """The line that the command prints; SettingError if there is none."""
        try:
            return self.form.convert(self.runner.run(self.reads), self.runner)
        except (OSError, ValueError) as error:
            remedy = "type it in a shell; it has to print one line, the value"
            raise cannot_read(attribute, shlex.join(self.reads), error, remedy) from error

    def write(self, attribute: str, value: str) -> None:
        """Run the command with the value; OSError if it fails."""
        if "\0" in value:
            raise OSError(errno.EINVAL, "a NUL")
        self.runner.run(self._command(value))

    def location(self, attribute: str) -> str:
        return shlex.join(self.reads)

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        return f"type it in a shell: {shlex.join(self._command(value))}"

    def by_hand(self, attribute: str, value: str) -> str:
        return shlex.join(self._command(value))

    def _command(self, value: str) -> tuple[str, ...]:
        return tuple(argument.replace(VALUE, value) for argument in self.writes)


def bind(definition: CommandDefinition, place: str) -> tuple[AttributeSetting, ...]:
    """The setting at each of its locations; TargetError if a program is missing."""
    return tuple(_bind(definition, location) for location in locate(definition.place, place))


def _bind(definition: CommandDefinition, location: Location) -> AttributeSetting:
    runner = Runner.of(definition)
    reads, writes, normalise = (
        runner.resolve(location.fill(command), definition.name)
        for command in (definition.read, definition.write, definition.normalise)
    )
    form = ValueForm(definition.equals, normalise)
    fields = (location.name, runner, form, location.device, reads, writes)
    owner = CommandOwner(*fields, mounted=location.mounted)
    return AttributeSetting(definition, owner, definition.name)


KIND = SettingKind(CommandDefinition, bind, prepare_changes)
