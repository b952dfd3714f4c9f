"""Edits of mount options in /etc/fstab that leave every other byte unchanged.

A mount point is compared as findmnt(8) does, through symbolic links. A unit in /etc or /run, and
any drop-in, takes precedence over the line. Blanks, tabs, newlines and backslashes in a field are
octal escapes. Source: fstab(5), systemd.mount(5), systemd.unit(5); mount(8),
"FILESYSTEM-INDEPENDENT MOUNT OPTIONS".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.host import mounts
from iostudy.host.configuration.assignment import (
    PLACES,
    Assignment,
    content_lines,
    effective_files,
    host_path,
)
from iostudy.host.files import ROOT, decode
from iostudy.persist import dropins
from iostudy.persist.plan import Activation, Artifact, Conflict, PersistencePlan, UnsupportedSetting
from iostudy.persist.request import PersistedSetting
from iostudy.settings.mount_options import format_option, option_names, split_option

FILE = Path("/etc/fstab")

_LINE = re.compile(
    r"(?P<before>[ \t]*[^# \t\n][^ \t\n]*[ \t]+(?P<point>[^ \t\n]+)[ \t]+[^ \t\n]+)"
    r"(?:(?P<gap>[ \t]+)(?P<options>[^ \t\n]+))?(?P<after>[^\n]*)"
)
_ESCAPED = re.compile(rb"\\([0-7]{3})")
_SPECIAL = re.compile(r"[ \t\n\\]")
_ONLY_AT_MOUNT = ("mount.data",)
"""Options that ext3 and ext4 refuse to change by a remount."""
_UNITS = "systemd/system"
_BEFORE_FSTAB = ("etc", "run")
"""Folders of units that override those of systemd-fstab-generator."""
_SECTION = re.compile(r"\[(?P<name>\w+)\]")
_OPTIONS = re.compile(r"Options\s*=\s*(?P<options>.*)")
_UNESCAPED = re.compile(r"[a-zA-Z0-9:_.]")
_AT_MOUNT = (
    "cannot be changed while it is mounted: its options hold from the next mount "
    "(the root file system takes it from rootflags= of the kernel's command line)"
)


@dataclass(frozen=True)
class FstabEntry:
    """One line for a file system; ``number`` counts the lines of the file from 0."""

    number: int
    point: str
    options: str


def unescape(field: str) -> str:
    r"""Decode a field: ``/mnt/my\040disk`` -> ``/mnt/my disk``."""
    return decode(_ESCAPED.sub(lambda match: bytes([int(match[1], 8) & 0xFF]), os.fsencode(field)))


def escape(text: str) -> str:
    """Encode a text as a field."""
    return _SPECIAL.sub(lambda match: f"\\{ord(match[0]):03o}", text)


def parse(text: str) -> tuple[FstabEntry, ...]:
    """The lines about file systems; what is not of their form is left out, as mount(8) does."""
    matches = ((n, _LINE.fullmatch(line)) for n, line in enumerate(text.split("\n")))
    return tuple(
        FstabEntry(n, unescape(match["point"]), unescape(match["options"] or ""))
        for n, match in matches
        if match
    )


def with_options(text: str, entry: FstabEntry, options: str) -> str:
    """The same file, but for the options of that line."""
    lines = text.split("\n")
    match = _LINE.fullmatch(lines[entry.number])
    assert match is not None, "the entry is of another text"
    gap = match["gap"] or "\t"
    lines[entry.number] = f"{match['before']}{gap}{escape(options)}{match['after']}"
    return "\n".join(lines)


@dataclass(frozen=True)
class Edit:
    """The new options of a line, and their settings."""

    entry: FstabEntry
    options: str
    settings: tuple[PersistedSetting, ...]

    @property
    def activation(self) -> Activation:
        """Return the remount that applies them, if the kernel supports it."""
        return Activation(("mount", "-o", "remount", self.entry.point))

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the options of the settings."""
        lists = (format_options(k.name, k.value) for k in self.settings)
        return tuple(option for options in lists for option in options)

    @property
    def only_at_mount(self) -> tuple[str, ...]:
        """The settings among them that a remount cannot change."""
        return tuple(k.name for k in self.settings if k.name in _ONLY_AT_MOUNT)


def plan_edits(
    kept: Sequence[PersistedSetting], root: Path = ROOT
) -> tuple[tuple[Edit, ...], PersistencePlan]:
    """Plan the edit of each mount point's line; mounts without a line are unsupported."""
    entries = parse(dropins.read_text(FILE, root) or "")
    by_point: dict[Path | None, list[PersistedSetting]] = {}
    for setting in kept:
        by_point.setdefault(setting.mount_point, []).append(setting)
    edits, result = [], PersistencePlan()
    for point, settings in by_point.items():
        matching = _find_entries(point, entries, root)
        if point is None or len(matching) != 1:
            reason, remedy = _why_unlisted(point, len(matching), root)
            unkept = (UnsupportedSetting(s.text, reason, remedy) for s in settings)
            result += PersistencePlan(unsupported=tuple(unkept))
            continue
        wanted = {setting.name: setting.value for setting in settings}
        unit = _find_overriding(point, root)
        if unit and merge(unit.value, wanted) == unit.value:
            result += _already(settings, unit.where)
            continue
        if unit:
            remedy = f"it takes precedence over {FILE}: set the option there, or remove it"
            clashes = (Conflict(s.text, unit.where, unit.text, remedy) for s in settings)
            result += PersistencePlan(conflicts=tuple(clashes))
        options = merge(matching[0].options, wanted)
        edits.append(Edit(matching[0], options, tuple(settings)))
    return tuple(edits), result


def _already(settings: Iterable[PersistedSetting], where: object) -> PersistencePlan:
    return PersistencePlan(notes=tuple(f"{s.text}: already so in {where}" for s in settings))


def _find_entries(
    point: Path | None, entries: Sequence[FstabEntry], root: Path
) -> list[FstabEntry]:
    """Find the lines of a mount point; links are followed only where no line has its own name."""
    if point is None:
        return []
    literal = [entry for entry in entries if Path(entry.point) == point]
    real = dropins.resolve_path(point, root).resolve()
    return literal or [
        entry
        for entry in entries
        if entry.point.startswith("/")
        and dropins.resolve_path(Path(entry.point), root).resolve() == real
    ]


def unit_name(point: Path) -> str:
    """Return the name of a mount point's unit, as `systemd-escape --path` has it."""
    path = str(point).strip("/")
    escaped = "".join(
        "-"
        if char == "/"
        else char
        if _UNESCAPED.match(char) and not (char == "." and number == 0)
        else "".join(f"\\x{byte:02x}" for byte in os.fsencode(char))
        for number, char in enumerate(path)
    )
    return f"{escaped or '-'}.mount"


def _find_overriding(point: Path, root: Path) -> Assignment | None:
    """Find the options of a unit or drop-in that take precedence over those of a line."""
    name = unit_name(point)
    units = (root / place / _UNITS / name for place in _BEFORE_FSTAB)
    unit = next((path for path in units if path.is_file()), None)
    prefixes = [name[: match.end()] + ".mount" for match in re.finditer("-", name)]
    files: dict[str, Path] = {}
    # The same name in the folder of a longer prefix counts.
    for stem in ("mount", *prefixes, name):
        files |= {file.name: file for file in effective_files(root, f"{_UNITS}/{stem}.d", ".conf")}
    for file in (*(files[key] for key in sorted(files, reverse=True)), *((unit,) if unit else ())):
        if line := _read_options(file, root):
            return line
    # Without options of its own the unit takes none of the line's.
    return Assignment(host_path(unit, root), 1, 1, "Options", "", "no Options=") if unit else None


def _read_options(file: Path, root: Path) -> Assignment | None:
    """Return the last line with options in the section of a mount."""
    section, place, assignment = "", host_path(file, root), None
    text = dropins.read_text(place, root) or ""
    for line in content_lines(text, comments="#;", continued=True):
        if heading := _SECTION.fullmatch(line.text):
            section = heading["name"]
        elif section == "Mount" and (match := _OPTIONS.fullmatch(line.text)):
            options = match["options"]
            assignment = Assignment(place, line.first, line.last, "Options", options, line.text)
    return assignment


def plan(kept: Sequence[PersistedSetting], root: Path = ROOT) -> PersistencePlan:
    """The file with the options of every mount point that has a line in it."""
    edits, result = plan_edits(kept, root)
    changing = [edit for edit in edits if edit.options != edit.entry.options]
    for edit in edits:
        result += _already(() if edit in changing else edit.settings, FILE)
    before = after = dropins.read_text(FILE, root) or ""
    active: list[Activation] = []
    for edit in changing:
        after = with_options(after, edit.entry, edit.options)
        late = _late(edit, root)
        result += PersistencePlan(notes=late, places=() if late else (edit.entry.point,))
        active += [] if late else [edit.activation]
    changed = (Artifact(FILE, before, after, tuple(active)),) if changing else ()
    return result + PersistencePlan(artifacts=changed)


def _late(edit: Edit, root: Path) -> tuple[str, ...]:
    """Return why the options need a new mount; empty if a remount is enough."""
    point = edit.settings[0].mount_point
    if not any(mount.point == point for mount in mounts.read_mounts(root)):
        return (f"{point} is not mounted; its options hold from the next mount",)
    if edit.only_at_mount:
        names = ", ".join(edit.only_at_mount)
        return (f"{names} of {point} {_AT_MOUNT}",)
    return ()


def _why_unlisted(point: Path | None, entries: int, root: Path) -> tuple[str, str]:
    """Return why the options of a mount point cannot be edited, and the remedy."""
    if point is None:
        return "it is not known for which mount", "name the mount points with --on"
    if entries:
        return f"{FILE} has {entries} lines for {point}", "leave one, or edit them by hand"
    paths = (root / place / _UNITS / unit_name(point) for place in PLACES)
    unit = next((host_path(path, root) for path in paths if path.is_file()), None)
    if unit is not None:
        return f"{unit} mounts it", "set Options= in that unit, or in a drop-in of it"
    if any(m.point == point and m.filesystem == "autofs" for m in mounts.read_mounts(root)):
        return "the automounter mounts it", "set the options in its map (auto.master(5))"
    return f"{FILE} has no line for {point}", "add one, or name another mount point with --on"


_SEPARATOR = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""A comma outside quotation marks, as in ``context="system_u:object_r:tmp_t:s0:c1,c2"``."""


def split(options: str) -> list[str]:
    """The options one by one."""
    return [option for option in _SEPARATOR.split(options) if option]


def merge(options: str, settings: Mapping[str, str]) -> str:
    """The options with the settings in them, each in the place of what it replaces."""
    merged = split(options)
    for name, value in settings.items():
        for option in format_options(name, value):
            merged = _replace_option(merged, option)
    return ",".join(merged)


def format_options(name: str, value: str) -> list[str]:
    """``mount.atime``, ``noatime`` -> ``noatime``; ``mount.commit``, ``30`` -> ``commit=30``."""
    if name == "mount.options":
        return split(value)
    return [format_option(name.removeprefix("mount."), value)]


def conflicting_options(option: str) -> str:
    """A regular expression for the options that this one replaces, itself among them."""
    words = option_names(_key(option))
    return "|".join((*map(re.escape, words), rf"{re.escape(_key(option))}=[^,\s]*"))


def _replace_option(options: Iterable[str], option: str) -> list[str]:
    """Replace the first option of the same key, or append the option."""
    options = list(options)
    indexes = [index for index, old in enumerate(options) if _key(old) == _key(option)]
    at = indexes[0] if indexes else len(options)
    rest = [old for index, old in enumerate(options) if index not in indexes]
    return [*rest[:at], option, *rest[at:]]


def _key(option: str) -> str:
    return split_option(option)[0]
