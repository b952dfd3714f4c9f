"""Candidates of shell completion: ``iostudy-complete WORD...``, the last word being completed.

Imports only the standard library, so that a Tab takes little more than the start of Python. The
generated file completion.json has the commands, workloads and settings. Prints a candidate and its
description in each line, with a tab between them; the line ``:files`` asks for names of files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

INDEX = Path(__file__).with_name("completion.json")
BLOCK_DEVICES = Path("/sys/class/block")
FILES = ":files"

Candidates = dict[str, str]


def main() -> int:
    """Print the candidates for the words on the command line, without the program's name."""
    for name, description in complete(sys.argv[1:] or [""]).items():
        sys.stdout.write(f"{name}\t{description}\n")
    return 0


def complete(words: Sequence[str]) -> Candidates:
    """Return the candidates for the last word, with their descriptions."""
    index = json.loads(INDEX.read_text("utf-8"))
    *before, current = words
    command, rest = _split_command(index["commands"], before)
    if command is None:
        candidates = _next_words(index["commands"], before)
    else:
        candidates = _values(index, command, rest, current)
    return {
        name: description
        for name, description in candidates.items()
        if name == FILES or name.startswith(current)
    }


def _split_command(
    commands: dict[str, Any], words: Sequence[str]
) -> tuple[dict[str, Any] | None, Sequence[str]]:
    """Return the command that the words begin with, of one word or two, and the other words."""
    for count in (1, 2):
        name = " ".join(words[:count])
        if name in commands and len(words) >= count:
            return commands[name], words[count:]
    return None, words


def _next_words(commands: dict[str, Any], words: Sequence[str]) -> Candidates:
    """Return the next word of each command that begins with the words."""
    candidates: Candidates = {} if words else {"--help": "", "--version": ""}
    for name, command in commands.items():
        parts = name.split()
        if parts[: len(words)] == list(words):
            is_whole = len(parts) == len(words) + 1
            candidates[parts[len(words)]] = command["summary"] if is_whole else ""
    return candidates


def _values(
    index: dict[str, Any], command: dict[str, Any], words: Sequence[str], current: str
) -> Candidates:
    """Return options, or values of the option or argument at the end of the words."""
    options = command["options"]
    if words and options.get(words[-1], [""])[0]:
        return _from_source(index, options[words[-1]][0], words)
    if current.startswith("-"):
        return {flag: description for flag, (_, description) in options.items()} | {"--help": ""}
    sources = command["arguments"]
    if not sources:
        return {}
    place = sum(1 for _ in _plain_words(options, words))
    return _from_source(index, sources[min(place, len(sources) - 1)], words)


def _plain_words(options: dict[str, Any], words: Sequence[str]) -> Iterable[str]:
    """Yield the words that are neither options nor their values."""
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            yield word
        is_value = not is_value and bool(options.get(word, [""])[0])


def _from_source(
    index: dict[str, Any], source: str | list[str], words: Sequence[str]
) -> Candidates:
    if isinstance(source, list):
        return dict.fromkeys(source, "")
    match source:
        case "workloads":
            return {name: summary for name, (summary, _) in index["workloads"].items()}
        case "settings":
            return dict.fromkeys(index["settings"], "")
        case "assignments":
            return dict.fromkeys((f"{name}=" for name in index["settings"]), "")
        case "workload_options":
            workloads = (index["workloads"].get(word) for word in words)
            options: list[str] = next((choices for _, choices in filter(None, workloads)), [])
            return dict.fromkeys((f"{name}=" for name in options), "")
        case "studies":
            return {**dict.fromkeys(index["studies"], "ready-made study"), FILES: ""}
        case "devices":
            # A container may have no /sys: then there are none.
            names = sorted(path.name for path in BLOCK_DEVICES.glob("*"))
            return {**dict.fromkeys(names, "block device"), FILES: ""}
        case _:
            return {FILES: ""}


if __name__ == "__main__":
    sys.exit(main())
