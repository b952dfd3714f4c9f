"""Tests of proposed commands, with unusual names, and of proposed studies."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import StudyError
from iostudy.host.advice import finding
from iostudy.host.advice.finding import Certainty
from iostudy.host.advice.gather import gather_facts
from iostudy.host.advice.registry import evaluate_rules
from iostudy.host.configuration.assignment import Assignment
from iostudy.host.mounts import parse_mountinfo
from iostudy.host.topology import MountEntry
from iostudy.settings import catalog
from iostudy.study import parser
from tests.host import recorded
from tests.host.sysfs import add_disk, write

pytestmark = pytest.mark.child

HOSTS = [recorded.old_hadoop_node, recorded.lvm_on_md, recorded.nvme_and_zoned]


def place_at(point: str) -> MountEntry:
    (mount,) = parse_mountinfo(b"1 0 8:1 / / rw - ext4 /dev/sda rw\n")
    return MountEntry(
        mount=type(mount)(**{**vars(mount), "point": Path(point)}),
        devices=("sda",),
    )


@given(value=st.text("ab $`'\"\\;&|*", min_size=1), on=st.text("ab $'\"-", min_size=1))
def test_shell_characters_in_names_are_quoted(value: str, on: str) -> None:
    words = shlex.split(finding.set_command("block.scheduler", value, on))
    assert words == ["iostudy", "set", f"block.scheduler={value}", "--on", on]


def test_a_study_is_written_and_run(tmp_path: Path) -> None:
    point = '/data\'s "$HOME" `x`'
    command = finding.study_command(
        place_at(point), "block.read_ahead_kb", (128, 4096), finding.STREAMING_READS
    )
    write_it = command.rpartition(" && ")[0]
    subprocess.run(["sh", "-c", write_it], cwd=tmp_path, check=True)
    study = parser.load(tmp_path / "block.read_ahead_kb.yaml")
    assert str(study.target.path) == point  # type: ignore[union-attr]
    assert [level.value for level in study.factors[0].levels] == ["128", "4096"]


@pytest.mark.parametrize("host", HOSTS)
def test_proposed_study_passes_check(tmp_path: Path, host: Callable[[Path], Path]) -> None:
    facts = gather_facts(root=_with_large_memory(host(tmp_path)), statvfs=lambda _: recorded.room())
    measures = [f for f in evaluate_rules(facts) if f.certainty is Certainty.MEASURE]
    assert measures
    for measure in measures:
        words = shlex.split(measure.command)
        assert words[0] in ("(set", "iostudy")
        if words[0] == "(set":
            _is_a_study(words[4], measure.setting)


@pytest.mark.parametrize("host", HOSTS)
def test_proposed_command_sets_a_valid_value(tmp_path: Path, host: Callable[[Path], Path]) -> None:
    root = _with_large_memory(host(tmp_path))
    write(root / "proc/swaps", "Filename Type\n/dev/sda2 partition 1 0 -2\n")
    for key in ("swappiness", "zone_reclaim_mode"):
        write(root / "proc/sys/vm" / key, "60\n")
    write(root / "sys/kernel/mm/transparent_hugepage/defrag", "[always] madvise never\n")
    findings = evaluate_rules(gather_facts(root=root, statvfs=lambda _: recorded.room()))
    assignments = [
        shlex.split(f.command)[2] for f in findings if f.command.startswith("iostudy set")
    ]
    assert len(assignments) > 2
    for name, _, value in (words.partition("=") for words in assignments):
        assert catalog.get(name).parse(value) == value


def _with_large_memory(root: Path) -> Path:
    add_disk(root, "vda", "254:0", scheduler="none [mq-deadline] bfq\n", **recorded.LIMITS)
    mounted = (root / "proc/self/mountinfo").read_text()
    write(root / "proc/self/mountinfo", mounted + "9 1 254:0 / /v rw - ext4 /dev/vda rw\n")
    write(root / "proc/meminfo", f"MemTotal: {256 << 20} kB\n")
    write(root / "proc/sys/vm/dirty_ratio", "20\n")
    write(root / "sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n")
    return root


def _is_a_study(text: str, setting: str) -> None:
    try:
        study = parser.parse(text, where=setting, name=setting)
    except StudyError as error:
        raise AssertionError(f"{setting}: {error}") from error
    assert [factor.name for factor in study.factors] == [setting]


def at(file: str, line: int = 2) -> str:
    assignment = Assignment(Path(file), line, line + 1, "queue/scheduler", "bfq", "...")
    return finding.comment_out_command(assignment)


def test_a_copy_below_etc_is_made_once(tmp_path: Path) -> None:
    package, etc = tmp_path / "usr/lib/udev/rules.d", tmp_path / "etc/udev/rules.d"
    package.mkdir(parents=True)
    etc.mkdir(parents=True)
    (package / "6 0.rules").write_text("1\n2\n3\n4\n5\n")
    for line in (1, 4):
        command = at("/usr/lib/udev/rules.d/6 0.rules", line)
        for folder in ("/usr", "/etc"):
            command = command.replace(f"'{folder}", f"'{tmp_path}{folder}")
        subprocess.run(["sh", "-euc", command], check=True)
    assert (etc / "6 0.rules").read_text() == "#1\n#2\n3\n#4\n#5\n"
    assert (package / "6 0.rules").read_text() == "1\n2\n3\n4\n5\n"


def test_lines_become_comments_also_through_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "x.rules", tmp_path / "link.rules"
    file.write_text("one\ntwo\\\nthree\nfour\n")
    link.symlink_to(file.name)
    command = at("/etc/udev/rules.d/link.rules").replace("/etc/udev/rules.d", str(tmp_path))
    subprocess.run(["sh", "-c", command], check=True)
    assert file.read_text() == "one\n#two\\\n#three\nfour\n"
    assert link.is_symlink()


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    mine = tmp_path / "mount.atime.yaml"
    mine.write_text("mine")
    command = finding.study_command(place_at("/x"), "mount.atime", ("noatime",), {"io": {}})
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, check=False, capture_output=True)
    assert done.returncode != 0
    assert mine.read_text() == "mine"


@given(st.binary(min_size=1).filter(lambda data: b"\0" not in data))
def test_quoted_bytes_are_one_printable_shell_word(data: bytes) -> None:
    command = finding.format_command(["printf", "%s", os.fsdecode(data)])
    assert command.isprintable()
    assert subprocess.run(["bash", "-c", command], check=True, stdout=-1).stdout == data
