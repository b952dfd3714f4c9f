"""Tests of the paths found in fio job files."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from iostudy.workloads.external.fio_job import parse

TEXT = st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=20)


def job(*parameters):
    return parse(Path("x"), "fio " + " ".join(f"--{each}" for each in parameters) + " \n")


def test_parameters_keep_their_order_and_values():
    shown = job("size=1m", "name=a", "stonewall", "description=a b=c -d", "filename=e")
    assert shown.parameters == (
        ("size", "1m"),
        ("name", "a"),
        ("stonewall", ""),
        ("description", "a b=c -d"),
        ("filename", "e"),
    )


def test_groups_and_phases():
    jobs = ["name=a", "name=b", "name=c", "stonewall", "name=d", "new_group", "name=e"]
    assert job(*jobs, "stonewall=0", "name=f", "wait_for_previous=1").phases() == (0, 1, 1, 2)
    assert job("stonewall", "name=a", "name=b").phases() == (0, 1)
    assert job("name=a", "stonewall", "name=b").phases() == (0,)


@given(TEXT, TEXT, st.sampled_from(["filename", "directory"]))
def test_absolute_path_is_found_anywhere(before, after, name):
    listed = f"{before.rstrip(chr(92))}:/dev/sdz"
    assert any(job(f"description={after}", f"{name}={listed}", f"name={after}").refusals())


@given(st.lists(st.sampled_from(["..", ".", "a", "b c"]), min_size=1))
def test_a_path_is_refused_just_if_it_leaves_the_folder_on_its_way(parts):
    here, lowest = 0, 0
    for part in parts:
        here += {"..": -1, ".": 0}.get(part, 1)
        lowest = min(lowest, here)
    assert bool(list(job(f"filename={'/'.join(parts)}").refusals())) == (lowest < 0)


def test_shell_commands_are_refused():
    (refusal,) = job("name=a", "exec_postrun=rm x").refusals()
    assert "shell" in refusal


@given(TEXT)
def test_any_text_is_read(text):
    list(parse(Path("x"), text).refusals())
    assert parse(Path("x"), f"fio --name=a {text}").phases()[0] == 0
