"""Tests of mount options: parsed, formatted, changed and restored, without a mount."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.settings import catalog, mount_options
from iostudy.settings.attributes import AttributeChange, SideEffects
from iostudy.settings.change import Record
from iostudy.settings.mount_options import format_option, split_option

keys = st.text(string.ascii_lowercase + "_", min_size=1).filter(lambda k: not k.startswith("no"))
words = st.one_of(keys, keys.map("no{}".format))
pairs = st.builds("{}={}".format, keys, st.text(st.characters(exclude_characters=",")))
ATIME = ("noatime", "relatime", "strictatime", "nodiratime", "diratime")
OTHERS = ("async", "sync", "inode32", "inode64", "index=on", "index=off", "size=", "discard=async")
KNOWN = st.sampled_from((*ATIME, *OTHERS))


SYNONYMS = ("barrier=0", "barrier=1", "nosync", "noinode64")
"""Spellings of options that have another spelling as well, which is the one that is written."""


@given(st.one_of(words, pairs, KNOWN))
def test_an_option_taken_apart_is_spelled_again(option: str) -> None:
    if option not in SYNONYMS:
        assert format_option(*split_option(option)) == option


@pytest.mark.parametrize("option", SYNONYMS)
def test_a_synonym_keeps_its_meaning(option: str) -> None:
    assert split_option(format_option(*split_option(option))) == split_option(option)


@pytest.mark.parametrize(
    ("option", "key", "value"),
    [
        ("commit=60", "commit", "60"),
        ("discard", "discard", "on"),
        ("nodiscard", "discard", "off"),
        ("discard=async", "discard", "async"),
        ("barrier=0", "barrier", "off"),
        ("nodiratime", "nodiratime", "on"),
        ("diratime", "nodiratime", "off"),
        ("inode32", "inode64", "off"),
        ("index=on", "index", "=on"),
        ("noatime", "atime", "noatime"),
    ],
)
def test_keys_and_values(option: str, key: str, value: str) -> None:
    assert split_option(option) == (key, value)


@pytest.mark.parametrize(
    ("shown", "atime", "others"),
    [
        (("rw", "relatime"), "relatime", {}),
        (("ro", "nosuid", "noatime"), "noatime", {"suid": "off"}),
        (("rw",), "strictatime", {}),
        (("rw", "nodiratime"), "strictatime", {"nodiratime": "on"}),
        (("rw", "noexec", "nodev", "nosymfollow"), "strictatime",
         {"exec": "off", "dev": "off", "symfollow": "off"}),
    ],
)  # fmt: skip
def test_options_that_mountinfo_does_not_show(
    shown: tuple[str, ...], atime: str, others: Mapping[str, str]
) -> None:
    usual = {"nodiratime": "off", "suid": "on", "dev": "on", "exec": "on", "symfollow": "on"}
    assert mount_options.mount_values(shown) == {"atime": atime, **usual, **others}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ro", "nothing read only"),
        ("commit=5,rw", "nothing read only"),
        ("nofail", r"an option of mount\(8\)"),
        ("defaults,noatime", r"an option of mount\(8\)"),
        ("x-systemd.automount", r"an option of mount\(8\)"),
        ("noatime,relatime", "twice: noatime and relatime"),
        ("commit=5,commit=6", "twice"),
        ("discard,,commit=5", "no list of mount options"),
        ("", "no list of mount options"),
        ("no", "no list of mount options"),
        ("comm*t=5", "no list of mount options"),
        ("norelatime", "write noatime, relatime or strictatime"),
        ("exec=3", "write exec or noexec"),
        ("suid", "nosuid,nodev"),
        ("noatime,dev", "nosuid,nodev"),
        ("commit=5\n", "printable"),
    ],
)
def test_invalid_levels_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        catalog.get("mount.options").parse(text)


def test_a_level_in_the_kernels_form() -> None:
    options = catalog.get("mount.options")
    assert options.parse(" discard, commit=60,barrier=0 ") == "discard,commit=60,nobarrier"
    assert catalog.get("mount.commit").parse("060") == "60"


def test_options_are_met_where_all_of_them_hold() -> None:
    options = catalog.get("mount.options")
    assert options.matches("discard,commit=60", "rw,relatime,commit=60,barrier,discard")
    assert not options.matches("discard,commit=60", "rw,relatime,commit=5,discard")
    assert not options.matches("discard", "rw,nodiscard")


DEFAULTS = {"commit": "5", "barrier": "on", "discard": "off", "stripe": "0", "index": "=off"}
VALUES = {
    "commit": ("5", "60", "17"),
    "barrier": ("on", "off"),
    "discard": ("on", "off", "async"),
    "stripe": ("0", "64"),
    "index": ("=on", "=off"),
}


@dataclass
class MemoryFileSystem:
    """An owner that takes and shows options as a file system does, in an order of its own."""

    kind: ClassVar[str] = "memory"
    side_effects: ClassVar[SideEffects] = {}
    name: ClassVar[str] = "/memory"
    values: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))

    def shown(self) -> tuple[str, ...]:
        differing = (key for key in DEFAULTS if self.values[key] != DEFAULTS[key])
        return ("rw", *(format_option(key, self.values[key]) for key in differing))

    def known(self) -> dict[str, str]:
        return DEFAULTS | mount_options.parse_values(self.shown())

    def record(self) -> Record:
        return {}

    def absence_reason(self) -> str | None:
        return None

    def affected_resources(self) -> tuple[str, ...]:
        return ()

    def matching(self, pattern: str) -> tuple[str, ...]:
        return (pattern,) if pattern in self.known() else ()

    def write_order(self, attributes: Iterable[str]) -> list[str]:
        return sorted(attributes)

    def read(self, attribute: str) -> str | None:
        return self.known().get(attribute)

    def write(self, attribute: str, value: str) -> None:
        key, taken = split_option(format_option(attribute, value))
        self.values[key] = taken

    def available_values(self, attribute: str) -> tuple[str, ...]:
        return ()

    def location(self, attribute: str) -> str:
        return self.name

    def remedy(self, error: OSError, attribute: str, value: str) -> str:
        return ""


states = st.fixed_dictionaries({key: st.sampled_from(v) for key, v in VALUES.items()})
levels = st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in VALUES.items()})


@given(found=states, level=levels.filter(bool))
def test_undo_restores_the_original_mount_options(
    found: dict[str, str], level: dict[str, str]
) -> None:
    owner = MemoryFileSystem(dict(found))
    before = owner.shown()
    text = mount_options.format_options(level)
    change = AttributeChange.prepare(owner, mount_options.parse(text))
    change.apply()
    assert catalog.get("mount.options").matches(text, mount_options.format_options(owner.known()))
    change.undo()
    assert owner.shown() == before
    assert owner.values == found
