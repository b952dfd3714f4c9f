"""Hostile declarations of settings: hanging, failing, lying, huge, of no text, of no form.

Each is parsed, bound, proven, changed and restored as by a study: a clear error, at once.
"""

from __future__ import annotations

import json
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from iostudy.errors import IostudyError
from iostudy.settings import catalog, kinds
from iostudy.settings.transaction.recovery import restore_all
from iostudy.settings.transaction.transaction import Transaction
from iostudy.study.parser import parse
from tests.attack.campaign import AttackCount, attempts

MAX_SECONDS = 20.0
"""A time-out of 0.3 s for each of a few commands, and killed processes that have to end."""

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_STUDY = """
question: Does it matter?
target: {target}
settings: {{my.knob: {declaration}}}
factors: {{my.knob: [{level}, other]}}
workloads: [{{command: {{run: ['true']}}}}]
"""
KNOB = 'case $1 in get) cat "$state/value" ;; set) echo "$2" >"$state/value" ;; *) cat ;; esac'

BEHAVIOURS = {
    "fails": "exit 3",
    "fails with a text": "echo broken >&2; exit 1",
    "fails with controls": "printf '\\033[2J\\r\\n\\000' >&2; exit 1",
    "kills itself": "kill -9 $$",
    "kills its keeper": "kill -9 $PPID",
    "stops its keeper": "kill -STOP $PPID; sleep 0.2; kill -CONT $PPID; exit 1",
    "stops itself": "kill -STOP $$",
    "hangs": "exec sleep 100",
    "hangs with children": "sleep 100 & sleep 100 & wait",
    "hangs in a session of its own": "setsid sleep 100 & exec sleep 100",
    "hangs and ignores signals": "trap '' TERM INT HUP QUIT; while :; do sleep 1; done",
    "forks without end": "while :; do sleep 100 & done",
    "leaves a server": "sleep 5 & " + KNOB,
    "leaves a server in the background": "setsid sh -c 'sleep 5' & " + KNOB,
    "prints without end": "exec yes",
    "prints zeros without end": "exec cat /dev/zero",
    "complains without end": "yes >&2",
    "prints 60 KiB": "head -c 60000 /dev/zero | tr '\\0' x",
    "prints nothing": ":",
    "prints blanks": "echo '   '",
    "prints NUL": "printf 'a\\000b\\n'",
    "prints no UTF-8": "printf '\\377\\376\\n'",
    "prints two lines": "printf 'a\\nb\\n'",
    "prints controls": "printf '\\033[31mred\\n'",
    "prints bidirectional text": "printf '\\342\\200\\256x\\n'",
    "prints another value each time": 'n=$(cat "$state/n"); echo $((n+1)) >"$state/n"; echo "$n"',
    "prints commands": "echo '$(reboot); `reboot`; | reboot'",
    "prints options": "echo -- --help",
    "does nothing": 'case $1 in get) cat "$state/value" ;; esac',
    "closes its outputs and hangs": "exec >&- 2>&-; sleep 100",
    "takes no value back": 'case $1 in get) echo "1 (default)" ;; *) exit 1 ;; esac',
    "removes itself": 'rm -f "$0"; ' + KNOB,
    "makes itself writable": 'chmod 777 "$0"; ' + KNOB,
}
"""Scripts of hostile programs, by name."""

PARTS = ("read", "write", "both", "normalise", "after", "restore")
"""Parts of a declaration that are hostile; ``restore`` becomes so after the change."""

PATHS = (
    "/proc/kmsg",
    "/proc/self/mem",
    "/proc/self/oom_score_adj",
    "/proc/1/root/etc/passwd",
    "/proc/self/fd/0",
    "/proc/sysrq-trigger",
    "/proc/kcore",
    "/proc/version",
    "/proc/sys/kernel/hostname",
    "/proc/nonesuch",
    "/sys",
    "/sys/kernel",
    "/sys/*",
    "/sys/**/uevent",
    "/sys/kernel/tracing/trace_pipe",
    "/sys/kernel/notes",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    "/sys/block/loop0/queue/scheduler",
    "/sys/../etc/passwd",
    "/etc/passwd",
    "relative",
    "//sys/kernel",
    "/sys/\0",
    "/sys/" + "x" * 5000,
    "/sys/{name}",
    "/sys/[",
)

DECLARATIONS: tuple[Any, ...] = (
    None,
    [],
    "text",
    7,
    {},
    {"read": "true"},
    {"write": "true {}"},
    {"read": "true", "write": "true"},
    {"read": "true {}", "write": "true {}"},
    {"read": [], "write": []},
    {"read": "", "write": ""},
    {"read": "'", "write": "true {}"},
    {"read": ["true", ["a"]], "write": "true {}"},
    {"read": ["true"] * 100, "write": "true {}"},
    {"read": "./here", "write": "true {}"},
    {"read": "nonesuch-program", "write": "true {}"},
    {"read": "/etc/passwd", "write": "true {}"},
    {"read": "/", "write": "true {}"},
    {"read": "{}", "write": "{}"},
    {"read": "true", "write": ["sh", "-c", "echo {}"]},
    {"read": "true", "write": ["/bin/bash", "-c", "echo {} > x"]},
    {"read": "true\0", "write": "true {}"},
    {"read": "tr\x1bue", "write": "true {}"},
    {"read": {"a": "b"}, "write": "true {}"},
    {"read": "true", "write": "true {}", "timeout": -1},
    {"read": "true", "write": "true {}", "timeout": "1000h"},
    {"read": "true", "write": "true {}", "timeout": ".nan"},
    {"read": "true", "write": "true {}", "equals": [1]},
    {"read": "true", "write": "true {}", "equals": {"a": {"b": "c"}}},
    {"read": "true", "write": "true {}", "place": "nowhere"},
    {"read": "true", "write": "true {}", "place": "disk"},
    {"read": "true {name}", "write": "true {}"},
    {"read": "true", "write": "true {}", "file": "/etc/x", "key": "k"},
    {"read": "true", "write": "true {}", "unknown": 1},
    {"file": "/etc/hostname"},
    {"key": "k"},
    {"file": "relative", "key": "k"},
    {"file": "/etc/../etc/hosts", "key": "k"},
    {"file": "/dev/zero", "key": "k"},
    {"file": "/dev/full", "key": "k"},
    {"file": "/dev/tty", "key": "k"},
    {"file": "/proc/kmsg", "key": "k"},
    {"file": "/proc/self/environ", "key": "k"},
    {"file": "/", "key": "k"},
    {"file": "/nonesuch/file", "key": "k"},
    {"file": "/etc/hostname", "key": "(?:" * 50},
    {"file": "/etc/hostname", "key": "a\nb"},
    {"file": "/etc/hostname", "key": "k", "separator": "x"},
    {"attribute": []},
    {"attribute": {"a": "b"}},
    {"attribute": "/sys/kernel/mm/ksm/run", "resets": {"a": 1}},
)
"""Declarations that are none, and files that are no text files."""


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Every hostile declaration once, in random order."""
    cases = list(hostile())
    random.Random(seed).shuffle(cases)
    counts: dict[str, AttackCount] = {}
    for number in attempts(seconds, len(cases)):
        name, declaration, script = cases[number]
        kind = name.partition(":")[0]
        count = counts.setdefault(kind, AttackCount(f"declarations: {kind}"))
        found = failure(declaration, script, late=kind == "restore")
        count.record(f"{name}: {found}" if found else "")
    return list(counts.values())


def hostile() -> Iterator[tuple[str, Any, str]]:
    """Names, declarations and scripts of the program ``knob``."""
    for number, declaration in enumerate(DECLARATIONS):
        yield f"form: {number}", declaration, KNOB
    for path in PATHS:
        yield f"attribute: {path[:40]!r}", {"attribute": path}, KNOB
    for kind in FILES:
        yield f"file: {kind}", {"file": f"{{folder}}/{kind}", "key": "key"}, KNOB
    for part in PARTS:
        for name, script in BEHAVIOURS.items():
            yield f"{part}: {name}", _declare(part), script


def _declare(part: str) -> Mapping[str, Any]:
    hostile_, honest = "{folder}/knob", "{folder}/honest"
    if part == "after":
        return {"file": "{folder}/plain", "key": "key", "after": hostile_, "timeout": "300ms"}
    reader = hostile_ if part in ("read", "both", "restore") else honest
    writer = hostile_ if part in ("write", "both", "restore") else honest
    own = {"read": f"{reader} get", "write": [writer, "set", "{}"], "timeout": "300ms"}
    return own | ({"normalise": f"{hostile_} filter"} if part == "normalise" else {})


def _make_hard_link(path: Path) -> None:
    path.write_text("key = 1\n")
    os.link(path, f"{path}.second")


FILES = {
    "fifo": os.mkfifo,
    "folder": os.mkdir,
    "loop": lambda path: path.symlink_to(path),
    "dangling": lambda path: path.symlink_to("nonesuch"),
    "second-name": _make_hard_link,
    "empty": lambda path: path.touch(),
    "zeros": lambda path: path.write_bytes(bytes(100)),
    "huge": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 1 << 40),
    "no-utf8": lambda path: path.write_bytes(b"key = \xff\xfe\n"),
    "twice": lambda path: path.write_bytes(b"key = 1\nkey = 2\n"),
    "continued": lambda path: path.write_bytes(b"key = 1 \\\n 2\n"),
    "quadratic": lambda path: path.write_bytes(b"key = " + b"' " * 500_000 + b"\n"),
    "many-lines": lambda path: path.write_bytes(b"[a]\n" * 500_000),
    "one-line": lambda path: path.write_bytes(b" " * 3_000_000 + b"key"),
    "control": lambda path: path.write_bytes(b"key = \x1b[31m\n"),
}


def failure(declaration: Any, script: str, *, late: bool = False) -> str:
    """What is wrong with how a declaration is taken; empty if nothing is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _install(folder, "honest", KNOB)
        _install(folder, "knob", KNOB if late else script)
        (folder / "state/value").write_text("1\n")
        (folder / "plain").write_text("key = 1\n")
        for kind, make in FILES.items():
            if f"/{kind}" in json.dumps(declaration):
                make(folder / kind)
        began = time.monotonic()
        try:
            found = _try(folder, declaration, script if late else "")
        finally:
            _forget(folder)
        took = time.monotonic() - began
    return found or (f"it took {took:.0f} s" if took > MAX_SECONDS else "")


def _install(folder: Path, name: str, script: str) -> None:
    (folder / "state").mkdir(exist_ok=True)
    (folder / "state/n").write_text("1\n")
    # Replaced as a whole: a process may still execute the former one.
    new = folder / f"{name}.new"
    new.write_text(f"#!/bin/sh\nstate={folder}/state\n{script}\n")
    new.chmod(0o755)
    new.rename(folder / name)


def _try(folder: Path, declaration: Any, late_script: str) -> str:
    text = json.dumps(declaration, ensure_ascii=True).replace("{folder}", str(folder))
    try:
        study = parse(
            _STUDY.format(target=folder, declaration=text, level="2"), where="x", name="x"
        )
        _change(folder, study.factors[0].name, late_script)
    except IostudyError as error:
        raw = _CONTROL.search(str(error))
        return f"the message has {raw[0]!r}: {error!r}" if raw else ""
    except Exception as error:  # noqa: BLE001 - whatever escapes is what the attack looks for
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def _change(folder: Path, name: str, late_script: str) -> None:
    bound = kinds.bind(name, str(folder))
    with Transaction() as transaction:
        wanted = dict.fromkeys(bound, catalog.get(name).parse("2"))
        transaction.apply(*kinds.prepare_changes(wanted))
        if late_script:
            _install(folder, "knob", late_script)


def _forget(folder: Path) -> None:
    """Restore with an honest program what a hostile one has left in the journal."""
    _install(folder, "knob", KNOB)
    restore_all()
    for path in (folder / "state/value", folder / "plain"):
        path.unlink(missing_ok=True)
