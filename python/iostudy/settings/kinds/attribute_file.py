"""Settings that are files of the kernel below /sys or /proc, and last until the next boot.

Of several names with the chosen one in brackets (``always [madvise] never``), or in parentheses as
the scheduler's debugfs has it, the chosen one is the value.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

from iostudy.errors import TargetError
from iostudy.host.files import NOT_HERE, ROOT, decode, find_files, write_attribute
from iostudy.safe_path import closing
from iostudy.settings import catalog
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import SettingKind
from iostudy.settings.definitions.declared import AttributeDefinition
from iostudy.settings.identity import boot_id
from iostudy.settings.kinds.declared import (
    MAX_VALUE_BYTES,
    DeclaredOwner,
    Location,
    Runner,
    ValueForm,
    cannot_read,
    locate,
    prepare_changes,
)
from iostudy.settings.kinds.host_files import KernelFiles
from iostudy.settings.sysctl_keys import path_key

MAX_FILES = 10_000
"""Files of a pattern that are examined."""

_TREES = ("sys", "proc")
_QUEUE = re.compile(r"/block/([^/]+)/queue/(.+)")
_PROCESS = re.compile(r"proc/(?:\d+|self|thread-self)/.*")


@dataclass(frozen=True)
class AttributeFiles(KernelFiles, DeclaredOwner):
    """Files of the kernel, each an attribute by its path without the first slash."""

    kind: ClassVar[str] = "attribute-files"
    refused_by: ClassVar[str] = "the kernel"
    needed_mode: ClassVar[int] = stat.S_IRUSR | stat.S_IWUSR

    boot: str
    resets: tuple[tuple[str, tuple[str, ...]], ...]
    offered: str

    @property
    def side_effects(self) -> dict[str, tuple[str, ...]]:  # type: ignore[override]
        return dict(self.resets)

    def absence_reason(self) -> str | None:
        return super().absence_reason() if self.boot == boot_id() else "the host has been rebooted"

    def read(self, attribute: str) -> str | None:
        """The line, or its chosen word; None where it is not there. SettingError for others."""
        try:
            text = _read(ROOT / attribute)
            return self.form.convert(_chosen_word(text.split()) or text, self.runner)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in NOT_HERE:
                return None
            remedy = "run as root; a setting is one line of text"
            raise cannot_read(attribute, self.location(attribute), error, remedy) from error

    def write(self, attribute: str, value: str) -> None:
        write_attribute(ROOT / attribute, f"{value}\n", self.runner.seconds)

    def available_values(self, attribute: str) -> tuple[str, ...]:
        path = ROOT / attribute
        try:
            words = _read(path.with_name(self.offered) if self.offered else path).split()
        except OSError:
            return ()
        return tuple(w.strip("[]()") for w in words) if self.offered or _chosen_word(words) else ()

    def by_hand(self, attribute: str, value: str) -> str:
        return f"echo {shlex.quote(value)} > {shlex.quote(self.location(attribute))}"


@dataclass(frozen=True)
class AttributeFileSetting(AttributeSetting):
    """A file of the kernel; one of several has the last folder with a number in its label."""

    several: bool = False

    @property
    def label(self) -> str:
        """``cpu.governor@policy0`` for one of several files."""
        if not self.several:
            return super().label
        folders = [part for part in Path(self.attribute).parts[:-1] if part[-1].isdigit()]
        return f"{self.definition.name}@{folders[-1] if folders else self.attribute}"


def bind(definition: AttributeDefinition, place: str) -> tuple[AttributeFileSetting, ...]:
    """Return the setting of every file; TargetError if there is none, or if it is another kind."""
    located = locate(definition.place, place)
    files = {path: _find(definition, path) for path in located}
    return tuple(
        _bind(definition, where, file, several=len(paths) > 1 or "*" in definition.attributes[0])
        for where, paths in files.items()
        for file in paths
    )


def _bind(
    definition: AttributeDefinition, where: Location, file: str, *, several: bool
) -> AttributeFileSetting:
    runner = Runner.of(definition)
    related = definition if definition.resets else catalog.find_attribute(f"/{file}")
    # A relative pattern begins in the folder of the file.
    folder, patterns = Path(file).parent, related.resets if related else ()
    resets = tuple(p[1:] if p.startswith("/") else str(folder / p) for p in patterns)
    normalise = runner.resolve(definition.normalise, definition.name)
    owner = AttributeFiles(
        where.name,
        runner,
        ValueForm(definition.equals, normalise),
        where.device,
        boot_id(),
        ((file, resets),) if resets else (),
        definition.offered,
    )
    return AttributeFileSetting(definition, owner, file, several)


def _find(definition: AttributeDefinition, where: Location) -> tuple[str, ...]:
    patterns = where.fill(definition.attributes)
    for pattern in patterns:
        paths = islice(find_files(pattern[1:], ROOT), MAX_FILES)
        if files := sorted(path for path in paths if path.is_file()):
            # Several CPUs may have links to the policy that they share.
            return tuple(dict.fromkeys(_require_attribute(definition, path) for path in files))
    raise TargetError(
        f"the file of {definition.name}",
        found="this kernel, device or driver has none",
        where=", ".join(str(ROOT / pattern[1:]) for pattern in patterns),
        remedy="leave it out; some files come with a kernel module, or for root alone",
    )


def _require_attribute(definition: AttributeDefinition, path: Path) -> str:
    """Return its path without the first slash; TargetError if it is no attribute of the kernel."""
    real = path.resolve().relative_to(ROOT.resolve())
    better = ""
    if queue := _QUEUE.search(f"/{real}"):
        better = f"write block.{queue[2].replace('iosched/', 'SCHEDULER.')} with `on: {queue[1]}`"
    elif real.is_relative_to("proc/sys"):
        better = f"write sysctl.{path_key(str(real.relative_to('proc/sys')))}"
    elif real.parts[0] not in _TREES or _PROCESS.fullmatch(str(real)):
        better = "name a file of the kernel; for others there are commands and keys of text files"
    if better and definition.undocumented:
        raise TargetError(
            f"a file of {' or '.join(f'/{tree}' for tree in _TREES)} without a setting of its own",
            found=f"it is /{real}",
            where=str(path),
            remedy=better,
        )
    return str(real)


KIND = SettingKind(AttributeDefinition, bind, prepare_changes)


def _chosen_word(words: Sequence[str]) -> str:
    """Return the one word in brackets, or in parentheses among words; empty without one.

    ``1000 (system)`` is a number with a remark.
    """
    pairs = ("[]",) if any(word.isdecimal() for word in words) else ("[]", "()")
    chosen = [word[1:-1] for word in words if word[0] + word[-1] in pairs]
    return chosen[0] if len(chosen) == 1 else ""


def _read(path: Path) -> str:
    """Return the text without waiting for more, as kmsg and trace pipes would."""
    with closing(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as descriptor:
        return decode(os.read(descriptor, MAX_VALUE_BYTES + 1))
