"""``get``, ``set`` and ``settings``: every reach of a setting, several places, every refusal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from iostudy.settings import catalog
from tests.fixtures_loop import loop_disk, queue_state


@pytest.fixture
def pair() -> Iterator[tuple[str, str]]:
    """Two loop devices."""
    with ExitStack() as held:
        yield held.enter_context(loop_disk()), held.enter_context(loop_disk())


@pytest.mark.root
def test_one_value_is_set_on_several_devices_and_taken_back(program, pair):
    on = [word for name in pair for word in ("--on", name)]
    before = [queue_state(name) for name in pair]
    done = program("set", "block.bfq.slice_idle=2", "block.scheduler=bfq", *on)
    assert done.returncode == 0, done.stderr
    told = json.loads(
        program("get", "block.bfq.slice_idle", "block.scheduler", *on, "--json").stdout
    )
    assert {label: told[label]["value"] for label in told} == {
        **{f"block.bfq.slice_idle@{name}": "2" for name in pair},
        **{f"block.scheduler@{name}": "bfq" for name in pair},
    }
    assert program("restore").returncode == 0
    assert [queue_state(name) for name in pair] == before


@pytest.mark.root
def test_a_caution_is_told_where_it_matters(program, loop):
    done = program("set", "block.write_cache=write through", "--on", loop)
    assert done.returncode == 0, done.stderr
    assert "caution: block.write_cache: 'write through' on a device" in done.stderr
    assert done.stdout == ""
    assert "caution" not in program("set", "block.nr_requests=32", "--on", loop).stderr
    assert program("restore").returncode == 0


@pytest.mark.root
@pytest.mark.parametrize("command", ["get", "set"])
def test_a_tunable_that_is_not_there_names_the_scheduler_that_is(program, loop, command):
    argument = "block.bfq.slice_idle" + ("=1" if command == "set" else "")
    done = program(command, argument, "--on", loop)
    assert done.returncode != 0
    assert "only while block.scheduler is bfq" in done.stderr.replace("is only there", "only")
    assert "mq-deadline" in done.stderr
    assert "remedy: " in done.stderr
    assert done.stdout == ""


def test_what_the_host_or_a_process_has_once_needs_no_place(program):
    done = program("get", "sysctl.vm.swappiness", "limit.nofile_soft", "--json")
    assert done.returncode == 0, done.stderr
    assert list(json.loads(done.stdout)) == ["sysctl.vm.swappiness", "limit.nofile_soft"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("set", "limit.nofile_soft=2000"), "vary it in a study, which sets it for the time of"),
        (("set", "filesystem.type=xfs"), "in a study whose target is a loop-back disk"),
        (("set", "block.nr_requests=32", "block.nr_requests=64"), "it is given twice"),
        (("set", "block.nr_requests=as-found"), "as-found, which changes nothing"),
        (("set", "sysctl.vm.swappiness=10", "--on", "/"), "the whole host, which has no place"),
        (("get", "sysctl.vm.swappiness", "--on", "/"), "the whole host, which has no place"),
        (("get", "block.scheduler", "--on", "members of nothing"), "remedy: "),
        (("settings", "block.schedular"), "did you mean block.scheduler?"),
        (("get", "block.schedular"), "and"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(program, arguments, words):
    done = program(*arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "remedy: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_error_does_not_list_a_hundred_names(program):
    stderr = program("get", "block.schedular").stderr
    assert "others" in stderr
    assert len(stderr) < 500


def test_settings_are_listed_by_name_or_by_what_names_begin_with(program):
    told = json.loads(program("settings", "block.kyber", "block.scheduler", "--json").stdout)
    assert [entry["name"] for entry in told] == [
        "block.kyber.read_lat_nsec",
        "block.kyber.write_lat_nsec",
        "block.scheduler",
    ]
    assert told[0]["only_while"] == {"block.scheduler": ["kyber"]}
    lines = program("settings", "block.scheduler").stdout.splitlines()
    assert lines[:2] == ["== block ==", "block.scheduler"]


def test_settings_are_grouped_by_kind(program):
    lines = program("settings").stdout.splitlines()
    kinds = dict.fromkeys(name.partition(".")[0] for name in catalog.names())
    assert [line for line in lines if line.startswith("==")] == [f"== {kind} ==" for kind in kinds]
