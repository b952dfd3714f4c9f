"""Mutated and hostile study files against load and check: a Study or an IostudyError, at once."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from iostudy.cli.check import check
from iostudy.errors import IostudyError
from iostudy.study import library
from tests.attack.campaign import AttackCount, attempts

MOST_MUTANTS = 4000
MAX_SECONDS = 5.0
"""A person waits no longer for `iostudy check`; a hostile file takes less than 2 s alone."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_TOKEN = re.compile(r"[A-Za-z0-9_.%-]+|[^\sA-Za-z0-9_.%-]")
_VALUES = (
    "true",
    "null",
    "-1",
    "0",
    "1e999",
    ".nan",
    "-.inf",
    "9" * 30,
    "9" * 5000,
    "0x" + "f" * 5000,
    "0o17",
    "2001-02-30",
    "2001-02-03T04:05:06.7+99:00",
    "-_",
    "''",
    "[]",
    "{}",
    "[[a], {b: c}]",
    "{? [a, b] : c}",
    "{? {a: b} : c}",
    '"\\ud800"',
    '"\\0"',
    '"a\\nline 1: forged"',
    '"\\e[31m"',
    '"\\u202e\\u2028"',
    "1000h",
    "9223372036854775807",
    "9EiB",
    "100%",
    "as-found",
    "offered",
    "*alias",
    "&anchor x",
    "!!python/object x",
    "x" * 3000,
    "[" + "1, " * 3000 + "1]",
    "[" * 30,
)
"""Values of every kind that YAML has, and of every size."""

Mutation = Callable[[random.Random, str, str], str]


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Mutants of the ready-made studies, then the files of `hostile`, each once."""
    chance = random.Random(seed)
    texts = [library.ready_file(name).read_text() for name in library.names()]
    counts = {name: AttackCount(f"studies: {name}") for name in MUTATIONS}
    for _ in attempts(seconds * 0.8, MOST_MUTANTS):
        name = chance.choice(list(MUTATIONS))
        mutant = MUTATIONS[name](chance, chance.choice(texts), chance.choice(texts))
        counts[name].record(failure(mutant.encode("utf-8", "surrogateescape")))
    fixed = AttackCount("studies: hostile documents")
    for name, content in hostile():
        found = failure(content)
        fixed.record(f"{name}: {found}" if found else "")
    return [*counts.values(), fixed]


def failure(content: bytes) -> str:
    """What is wrong with how a study file of this content is taken; empty if nothing is."""
    began = time.process_time()  # of the CPU, so that others at work on the host do not count
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "study.yaml")
        path.write_bytes(content)
        failure_text = _find_failure(path)
    took = time.process_time() - began
    if took > MAX_SECONDS:
        return f"{took:.1f} s for {content[:80]!r}"
    return f"{failure_text} for {content[-200:]!r}" if failure_text else ""


def _find_failure(path: Path) -> str:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            check(os.fspath(path))
    except IostudyError as error:
        raw = _CONTROL.search(str(error))
        return f"the message has {raw[0]!r}" if raw else ""
    except BaseException as error:  # whatever escapes is what the attack looks for
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {str(error)[:100]}"
    return ""


def _flip_bytes(chance: random.Random, text: str, _: str) -> str:
    content = bytearray(text.encode())
    for _ in range(chance.randint(1, 8)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content).decode("utf-8", "surrogateescape")


def _move_tokens(chance: random.Random, text: str, other: str) -> str:
    """A token is left out, doubled, or replaced by one of another study."""
    token = chance.choice(list(_TOKEN.finditer(text)))
    donor = chance.choice(list(_TOKEN.finditer(other)))[0]
    new = chance.choice(("", token[0] * 2, donor))
    return text[: token.start()] + new + text[token.end() :]


def _replace_value(chance: random.Random, text: str, _: str) -> str:
    """A value after a colon, or an element of a list, becomes one of another kind or size."""
    ends = list(re.finditer(r"(?<=: )[^\s,{}\[\]]+|(?<=[\[,] )?[\w%.-]+(?=[,\]])", text))
    if not ends:
        return text
    value = chance.choice(ends)
    return text[: value.start()] + chance.choice(_VALUES) + text[value.end() :]


def _replace_section(chance: random.Random, text: str, _: str) -> str:
    """All that stands below a top key becomes one value."""
    sections = list(re.finditer(r"^(\w+):(.*\n(?:[ #-].*\n|\n)*)", text, re.MULTILINE))
    section = chance.choice(sections)
    return text[: section.start(2)] + f" {chance.choice(_VALUES)}\n" + text[section.end() :]


def _splice_lines(chance: random.Random, text: str, other: str) -> str:
    lines, donors = text.splitlines(keepends=True), other.splitlines(keepends=True)
    start, there = chance.randrange(len(lines)), chance.randrange(len(donors))
    count = chance.randint(1, 5)
    return "".join([*lines[:start], *donors[there : there + count], *lines[start + count :]])


def _rename_key(chance: random.Random, text: str, _: str) -> str:
    keys = list(re.finditer(r"[\w.-]+(?=:)", text))
    key = chance.choice(keys)
    return text[: key.start()] + chance.choice(_VALUES) + text[key.end() :]


MUTATIONS: dict[str, Mutation] = {
    "bytes": _flip_bytes,
    "tokens": _move_tokens,
    "values": _replace_value,
    "sections": _replace_section,
    "lines": _splice_lines,
    "keys": _rename_key,
}


def hostile() -> Iterator[tuple[str, bytes]]:
    """Documents that take long, much memory or much stack, or lie about lines, by their names."""
    text = (library.FOLDER / "quickstart.yaml").read_text()
    ten_mib = 10 << 20
    yield "an integer of 100,000 digits", f"{text}\nseed: {'9' * 100_000}\n".encode()
    yield "a list of 10 MiB", b"a: [" + b"1, " * (ten_mib // 3) + b"]"
    yield "a text of 10 MiB", b"question: '" + b"x" * ten_mib + b"'"
    yield "comments of 10 MiB", text.encode() + b"#\n" * (ten_mib // 2)
    yield "a list at the bound", b"a: [" + b"a," * 131_000 + b"]"
    yield "unknown keys at the bound", "".join(f"k{i}: 1\n" for i in range(25_000)).encode()
    yield "problems at the bound", b"workloads:\n" + b"  - iozon\n" * 26_000
    yield "indentation at the bound", b"".join(b" " * i + b"- a:\n" for i in range(700))
    yield "depth in brackets", b"a: " + b"[" * 100_000
    yield "depth in braces", b"{a: " * 60_000
    yield "depth in dashes", b"- " * 100_000
    yield "depth in questions", b"? " * 100_000
    aliases = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    yield "a billion laughs", f"a0: &a0 [x]\n{aliases}".encode()
    yield "another version of YAML", b"%YAML 1.1\n---\n" + text.encode()
    yield "not UTF-8", text.encode() + b"baseline: \xff\xfe\n"
    yield "UTF-16", text.encode("utf-16")
    yield "NUL", text.encode() + b"baseline: a\0b\n"
    yield "many documents", b"---\na: b\n" * 20_000
    yield "a question that is no text", text.encode() + b'reference: "\\ud800"\n'
    yield "nothing", b""
