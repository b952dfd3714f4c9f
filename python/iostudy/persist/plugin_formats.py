"""Formats for settings of plugins, which no configuration of this host holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from iostudy import plugins
from iostudy.core import registered
from iostudy.persist.plan import PersistencePlan
from iostudy.persist.request import PersistedSetting


@dataclass(frozen=True)
class PluginFormat:
    """How settings that begin with the format's name are kept, but not on this host.

    - ``reason``, ``remedy``: why no file of this host holds them, and what to do instead
    - ``plan``: a function of settings, their origin and its evidence; None if nothing keeps them
    - ``what``, ``use``: what the format writes, and what to do with it
    - ``undo``: how to undo it
    """

    reason: str
    remedy: str
    plan: Callable[[Sequence[PersistedSetting], str, Sequence[str]], PersistencePlan] | None = None
    what: str = ""
    use: str = ""
    undo: str = ""


@cache
def list_plugin_formats() -> Mapping[str, PluginFormat]:
    """Return the formats of plugins by name."""
    found = (plugin.formats.items() for plugin in registered())
    return {name: plugins.load(ref) for formats in found for name, ref in formats}
