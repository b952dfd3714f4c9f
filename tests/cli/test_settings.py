"""Tests of ``get``, ``set`` and ``settings``: every scope, several places, every refusal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
import typer
from rich.console import Console

from iostudy.cli import console
from iostudy.cli.settings import get, set_, settings
from iostudy.cli.workloads import workloads
from iostudy.errors import UsageError
from iostudy.settings import catalog
from iostudy.workloads import catalog as workload_catalog
from tests.fixtures_loop import queue_state

NOWHERE = ["/no/such/place"]
SWAPPINESS = Path("/proc/sys/vm/swappiness").read_text().strip()


@pytest.mark.root
def test_value_is_set_on_several_devices_and_restored(program, two_loops):
    on = [word for name in two_loops for word in ("--on", name)]
    before = [queue_state(name) for name in two_loops]
    done = program("set", "block.bfq.slice_idle=2", "block.scheduler=bfq", *on)
    assert done.returncode == 0, done.stderr
    document = json.loads(
        program("get", "block.bfq.slice_idle", "block.scheduler", *on, "--json").stdout
    )
    assert {label: document[label]["value"] for label in document} == {
        **{f"block.bfq.slice_idle@{name}": "2" for name in two_loops},
        **{f"block.scheduler@{name}": "bfq" for name in two_loops},
    }
    assert program("restore").returncode == 0
    assert [queue_state(name) for name in two_loops] == before


@pytest.mark.root
def test_caution_is_printed_where_it_matters(program, loop):
    done = program("set", "block.write_cache=write through", "--on", loop)
    assert done.returncode == 0, done.stderr
    assert "caution: block.write_cache: 'write through' on a device" in done.stderr
    assert done.stdout == ""
    assert "caution" not in program("set", "block.nr_requests=32", "--on", loop).stderr
    assert program("restore").returncode == 0


@pytest.mark.root
@pytest.mark.parametrize("command", ["get", "set"])
def test_missing_tunable_names_the_active_scheduler(program, loop, command):
    argument = "block.bfq.slice_idle" + ("=1" if command == "set" else "")
    done = program(command, argument, "--on", loop)
    assert done.returncode != 0
    assert "only while block.scheduler is bfq" in done.stderr.replace("is only there", "only")
    assert "mq-deadline" in done.stderr
    assert "remedy: " in done.stderr
    assert done.stdout == ""


def test_settings_of_the_host_need_no_place(capsys):
    get(["sysctl.vm.swappiness", "limit.nofile_soft"], json=True)
    assert list(json.loads(capsys.readouterr().out)) == [
        "sysctl.vm.swappiness",
        "limit.nofile_soft",
    ]


@pytest.mark.parametrize(
    ("assignments", "on", "words"),
    [
        (["limit.nofile_soft=2000"], None, "vary it in a study, which sets it for the time of"),
        (["filesystem.type=xfs"], None, "in a study whose target is a loop-back disk"),
        (["block.nr_requests=32", "block.nr_requests=64"], NOWHERE, "it is given twice"),
        (["block.nr_requests=as-found"], NOWHERE, "as-found, which changes nothing"),
        ([f"sysctl.vm.swappiness={SWAPPINESS}"], NOWHERE, "the whole host, which has no place"),
        (["block.scheduler=bfq"], ["members of nothing"], "a device node or a device name"),
    ],
)
def test_an_impossible_value_is_refused_with_the_reason(assignments, on, words, state_dir):
    """None of them would change the host, if it were not refused."""
    with pytest.raises(UsageError) as caught:
        set_(assignments, on)
    assert words in str(caught.value)


def test_place_for_a_host_setting_is_refused():
    with pytest.raises(UsageError, match="leave --on out"):
        get(["sysctl.vm.swappiness"], ["/"])


@pytest.mark.all_plugins
def test_a_property_of_hadoop_is_described_and_belongs_to_no_host(capsys):
    settings(["hadoop.dfs.image.compress"])
    assert "read by the daemons, at their start" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(UsageError, match="a place for files"):
        settings(["hadoop.dfs.datanode.data.dir"])
    with pytest.raises(UsageError, match="vary it in a study with workloads of Hadoop's"):
        set_(["hadoop.dfs.blocksize=64MiB"])
    with pytest.raises(typer.Exit):
        get(["hadoop.dfs.blocksize"])
    assert "vary it in a study with workloads of Hadoop's" in capsys.readouterr().err


@pytest.mark.parametrize("command", [get, settings])
def test_unknown_name_suggests_only_the_nearest(command):
    with pytest.raises(UsageError, match=r"did you mean block\.scheduler\b") as caught:
        command(["block.schedular"])
    assert str(caught.value).count("block.") <= 1 + 3
    assert "others" not in str(caught.value)


def test_settings_are_listed_by_name_or_by_what_names_begin_with(capsys):
    settings(["block.kyber", "block.scheduler"], json=True)
    document = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in document] == [
        "block.kyber.read_lat_nsec",
        "block.kyber.write_lat_nsec",
        "block.scheduler",
    ]
    assert document[0]["only_while"] == {"block.scheduler": ["kyber"]}
    assert [entry["switchable"] for entry in document] == [False, False, True]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("block.scheduler", ["block.scheduler"]),
        ("k.scheduler", ["block.scheduler"]),
        ("block.kyber.", ["block.kyber.read_lat_nsec", "block.kyber.write_lat_nsec"]),
        ("block.kyber", ["block.kyber.read_lat_nsec", "block.kyber.write_lat_nsec"]),
        ("thp", ["thp.enabled", "thp.defrag", "thp.shmem_enabled"]),
        ("hdparm", ["ata.write_cache"]),
        ("y_bytes", ["sysctl.vm.dirty_bytes"]),
        ("Dirty bytes", ["sysctl.vm.dirty_bytes"]),
        ("dirtybytes", ["sysctl.vm.dirty_bytes"]),
        ("vm.dirty_by", ["sysctl.vm.dirty_bytes"]),
        ("sysctl.kernel.pid_max", ["sysctl.kernel.pid_max"]),
    ],
)
def test_a_word_finds_the_name_else_what_begins_with_it_else_what_has_it(capsys, word, names):
    settings([word], json=True)
    names_found = [entry["name"] for entry in json.loads(capsys.readouterr().out)]
    assert names_found == names


def test_without_a_word_every_setting_has_one_line_that_fits_a_terminal(capsys, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(console, "out", screen)
    settings()
    lines = screen.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert [ln.split()[0] for ln in lines if not ln.startswith("==")] == list(catalog.names())
    assert "iostudy settings WORD" in capsys.readouterr().err


@pytest.mark.parametrize(("show", "words"), [(settings, (["block.bfq"],)), (workloads, ("io",))])
def test_folded_text_stays_in_its_column(monkeypatch, show, words):
    screen = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(console, "out", screen)
    show(*words)
    lines = [line for line in screen.file.getvalue().splitlines() if line]
    names = (*catalog.names(), *workload_catalog.names())
    assert all(line.startswith(("  ", "==")) or line in names for line in lines)


def test_settings_are_grouped_by_kind(program):
    lines = program("settings").stdout.splitlines()
    kinds = dict.fromkeys(name.partition(".")[0] for name in catalog.names())
    assert [line for line in lines if line.startswith("==")] == [f"== {kind} ==" for kind in kinds]
