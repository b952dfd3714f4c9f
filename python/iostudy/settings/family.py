"""Families of settings that a plugin adds to the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from iostudy.settings.definition import SettingDefinition


@dataclass(frozen=True)
class SettingFamily:
    """Settings of one kind, and names that are settings without a description.

    ``define`` returns the definition of any name that begins with ``prefix``, or raises KeyError;
    ``explain`` says why such a name is none.
    """

    definitions: tuple[SettingDefinition, ...]
    prefix: str = ""
    define: Callable[[str], SettingDefinition] | None = None
    explain: Callable[[str], str] = lambda name: ""
