"""`iostudy persist` as a user calls it; --install only where /etc is a copy."""

from __future__ import annotations

import sys

import pytest

from tests.persist import private

pytestmark = pytest.mark.root
RULE = 'KERNEL=="{}", ATTR{{queue/nomerges}}="2"'


@pytest.fixture
def held(program, loop):
    assert program("set", "block.nomerges=2", "--on", loop).returncode == 0
    return loop


def persist_in_private(program, *arguments):
    """In the namespace /run and /dev are empty, so there is no udev to talk to."""
    command = (sys.executable, "-m", "iostudy", "persist", *arguments)
    return private.run(program.folder, *command, env=program.env, cwd=program.folder)


def test_held_values_are_printed_as_files(program, held):
    done = program("persist", "--on", held)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# /etc/udev/rules.d/99-iostudy.rules\n# Written by")
    assert RULE.format(held) in done.stdout
    assert done.stderr.startswith(f"{held} is known by its name only")
    assert done.stderr.count("\n") == 1


def test_a_disk_without_identity_is_not_kept_unless_it_is_named(program, held):
    done = program("persist")
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"not kept: block.nomerges@{held} = 2: the disk has neither" in done.stderr
    assert "--on" in done.stderr


@pytest.mark.exclusive("host")
def test_second_install_changes_nothing(program, held):
    etc = private.copy_etc(program.folder)
    done = persist_in_private(program, "--on", held, "--install")
    assert done.returncode == 0, done.stdout
    assert "the rules hold from the next start" in done.stdout
    rules = etc / "udev/rules.d/99-iostudy.rules"
    assert RULE.format(held) in rules.read_text()
    again = persist_in_private(program, "--on", held, "--install")
    assert again.returncode == 0, again.stdout
    assert "nothing to do" in again.stdout


def test_nothing_held_is_an_error_that_says_so(program):
    done = program("persist")
    assert done.returncode == 2
    assert "`iostudy set` holds none" in done.stderr


@pytest.mark.parametrize(("form", "kinds"), [("fstab", "mount.*"), ("hadoop", "hadoop.*")])
def test_a_format_without_anything_to_keep_says_so(program, held, form, kinds):
    done = program("persist", "--on", held, "--format", form)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"nothing that --format {form} can keep: it keeps {kinds} only" in done.stderr
    assert "merge this" not in done.stderr


def test_a_folder_without_a_study(program):
    done = program("persist", ".")
    assert done.returncode == 2
    assert "ledger.sqlite" in done.stderr


def test_a_label_needs_a_study_and_a_playbook_a_user(program, held):
    assert "name its output folder" in program("persist", "--configuration", "bfq").stderr
    done = program("persist", "--format", "ansible", "--on", held, "--install")
    assert done.returncode == 2
    assert "write it with --out" in done.stderr


def test_a_role_is_printed_or_written(program, held):
    done = program("persist", "--format", "ansible", "--on", held)
    assert done.stdout.startswith("# roles/iostudy/README.md\n")
    done = program("persist", "--format", "ansible", "--on", held, "--out", "role")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "KERNEL==" in (program.folder / "role/defaults/main.yml").read_text()
    assert program("persist", "--on", held, "--out", "role").returncode == 2
