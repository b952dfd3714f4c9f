"""Mutated inventories of Ansible without its own program: nodes or an error, soon and small."""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from iostudy.errors import UsageError
from iostudy_fleet.deployment.inventory import HostVariables, read_nodes
from tests.attack.campaign import AttackCount, attempts
from tests.attack.studies import MUTATIONS

MOST_MUTANTS = 500
MAX_SECONDS = 5.0
MAX_MEMORY_KB = 200 << 10
INI = """\
# all hosts
lone ansible_host=10.0.0.9
[data]
node[01:03] ansible_user=root  # three
special:2222 ansible_ssh_extra_args="-4 -q"
[data:vars]
iostudy_python=/opt/io/bin/python
[compute]
c[a:b]
[site:children]
data
compute
[site:vars]
ansible_become=yes
"""
YAML = """\
all:
  hosts:
    lone: {ansible_host: 10.0.0.9}
  children:
    site:
      vars: {ansible_become: "yes"}
      children:
        data:
          hosts:
            node[01:03]: {ansible_user: root}
            special: {ansible_port: "2222"}
          vars: {iostudy_python: /opt/io/bin/python}
        compute:
          hosts: {"c[a:b]": }
"""
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def run(seconds: float, seed: int) -> list[AttackCount]:
    """Mutants of two inventories, then the texts of `hostile`, each once."""
    chance = random.Random(seed)
    mutants = AttackCount("inventories: mutants")
    for _ in attempts(seconds, MOST_MUTANTS):
        suffix, text, other = chance.choice((("", INI, YAML), (".yml", YAML, INI)))
        for _ in range(chance.randint(1, 4)):
            try:
                text = chance.choice(list(MUTATIONS.values()))(chance, text, other)
            except (IndexError, UnicodeEncodeError):  # it cannot be changed so once more
                continue
        mutants.record(failure(text.encode("utf-8", "surrogateescape"), suffix))
    fixed = AttackCount("inventories: hostile texts")
    for name, suffix, text in hostile():
        found = failure(text.encode(), suffix)
        fixed.record(f"{name}: {found}" if found else "")
    return [mutants, fixed]


def failure(content: bytes, suffix: str) -> str:
    """What is wrong with how an inventory of this content is taken; empty if nothing is.

    It is read in a process of its own, of which the kernel counts time and memory.
    """
    read_end, write_end = os.pipe()
    before = _resident_kb()
    child = os.fork()
    if not child:
        try:
            os.write(write_end, _find_failure(content, suffix).encode("utf-8", "replace"))
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        found = pipe.read().decode()
    _, _, used = os.wait4(child, 0)
    took, grown = used.ru_utime + used.ru_stime, used.ru_maxrss - before
    if took > MAX_SECONDS or grown > MAX_MEMORY_KB:
        return f"{took:.1f} s and {grown} kB for {content[:80]!r}"
    if found != "taken":
        return f"{found or 'killed'} for {content[-200:]!r}"
    return ""


def _find_failure(content: bytes, suffix: str) -> str:
    with tempfile.TemporaryDirectory() as folder, patch.object(shutil, "which", lambda _: None):
        path = Path(folder, f"inventory{suffix}")
        path.write_bytes(content)
        try:
            read_nodes(path, (), python="python3", sudo=False)
        except UsageError as error:
            raw = _CONTROL.search(str(error))
            return f"the message has {raw[0]!r}" if raw else "taken"
        except BaseException as error:  # noqa: BLE001 - whatever escapes is what the attack looks for
            return f"{type(error).__name__}: {str(error)[:100]}"
    return "taken"


def _resident_kb() -> int:
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found[1])


def hostile() -> Iterator[tuple[str, str, str]]:
    """Texts that take long, much memory or much stack: their names, suffixes and contents."""
    yield "a range of all numbers", "", "n[0:999999999999999999999]\n"
    yield "ranges in ranges", "", f"n{'[1:99]' * 30}\n"
    yield "many ranges", "", "".join(f"n{i}-[1:9999]\n" for i in range(1000))
    yield "a step of nothing", "", "n[1:9:0]\n"
    yield "a step of all", "", f"n[1:9:{'9' * 5000}]\n"
    yield "digits without end", "", f"n[{'1' * 9999}:{'2' * 9999}]\n"
    yield "a long name", "", f"{'n' * 100_000}[1:10000]\n"
    circle = "".join(f"[g{i}:children]\ng{(i + 1) % 5000}\n" for i in range(5000))
    yield "a circle of groups", "", circle
    yield "itself", "", "[a:children]\na\n"
    chain = "".join(f"[g{i}:children]\ng{i + 1}\n" for i in range(20_000))
    yield "a chain of groups", "", f"{chain}[g20000]\nn1\n"
    yield "a chain of all hosts", "", f"{chain}[g20000]\nn[1:10000]\n"
    diamonds = "".join(
        f"[a{i}:children]\nb{i}\nc{i}\n[b{i}:children]\na{i + 1}\n[c{i}:children]\na{i + 1}\n"
        for i in range(3000)
    )
    yield "diamonds of groups", "", f"{diamonds}[a3000]\nn1\n"
    many = "".join(f"[g{i}:children]\nall-of-them\n" for i in range(20_000))
    yield "many parents", "", f"{many}[all-of-them]\nn[1:10000]\n"
    several = "".join(f"[v{i}]\nn[1:900]\n[v{i}:vars]\nansible_user=u{i}\n" for i in range(11))
    yield "variables of many groups", "", several
    other = "".join(f"v{i}=x\n" for i in range(50_000))
    yield "many variables", "", f"[all:vars]\n{other}[a]\nn[1:10000]\n"
    yield "quotes without end", "", f"[a:vars]\nansible_user='{'(' * 100_000}\n"
    yield "a text of 1 MiB", "", "n1 x=" + "y" * ((1 << 20) - 10)
    words = " ".join(f"v{i}='{'y' * 20}'" for i in range(100))
    yield "long lines of 1 MiB", "", "".join(f"n{i} {words}\n" for i in range(380))
    yield (
        "short lines of 1 MiB",
        "",
        "".join(f"n{i} ansible_user='{'y' * 80}'\n" for i in range(9999)),
    )
    yield "more than 1 MiB", "", "# x\n" * (1 << 19)
    yield "depth in braces", ".yml", "{a: {children: " * 60_000
    yield (
        "depth in groups",
        ".yml",
        "".join(f"{'  ' * i}{'children' if i % 2 else f'g{i}'}:\n" for i in range(600)),
    )
    yield "a billion laughs", ".yml", "a: &a [x]\n" + "b: [*a, *a, *a]\n" * 9
    yield "a program", ".yml", "a: !!python/object/apply:os.system [id]\n"
    for kind in ("1", "[]", "{a: 1}", "true", "null", "1e999", "2001-02-30", "[[a]]"):
        for key in ("hosts", "vars", "children"):
            yield f"{key} as {kind}", ".yml", f"all: {{{key}: {kind}}}\n"
        for variable in HostVariables.model_fields:
            text = f"all: {{hosts: {{n1: {{{variable}: {kind}}}}}}}\n"
            yield f"{variable} as {kind}", ".yml", text
