from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.inventory import collect_inventory
from iostudy.results.matching import find_differences

BASE: dict[str, Any] = {
    "host": {
        "kernel": {"release": "6.1", "version": "#1"},
        "cpu": {"model": "A", "count": 8},
        "memory_bytes": 8 << 30,
        "block_devices": {
            "loop0": {"name": "loop0", "number": "7:0", "diskseq": 9, "queue": {"nomerges": "0"}},
            "sda": {"name": "sda", "number": "8:0", "diskseq": 1, "queue": {"nomerges": "0"}},
            "sdz": {"name": "sdz", "number": "8:9", "diskseq": 2, "queue": {"nomerges": "0"}},
        },
        "mounts": {"/data/one": {"point": "/", "filesystem": "ext4", "options": ["rw"]}},
    },
    "versions": {"iostudy": "0.1.0", "numpy": "2.4"},
    "target": {"devices": ["loop0", "sda"], "identity": ["disk"]},
    "hadoop": {"hadoop": {"version": "3.4.2"}},
    "seed": 7,
}


def changed(*way: str, to: Any) -> dict[str, Any]:
    found = copy.deepcopy(BASE)
    inner = found
    for name in way[:-1]:
        inner = inner[name]
    inner[way[-1]] = to
    return found


def ways(other: dict[str, Any]) -> list[str]:
    return [" ".join(each.way) for each in find_differences(BASE, other)]


def test_equal_circumstances_have_no_difference() -> None:
    assert find_differences(BASE, copy.deepcopy(BASE)) == ()


@pytest.mark.parametrize(
    ("way", "name"),
    [
        (("host", "kernel", "release"), "host kernel release"),
        (("host", "cpu", "model"), "host cpu model"),
        (("host", "memory_bytes"), "host memory_bytes"),
        (
            ("host", "block_devices", "sda", "queue", "nomerges"),
            "host block_devices device 2 queue nomerges",
        ),
        (("host", "mounts", "/data/one", "filesystem"), "host mounts mount filesystem"),
        (("host", "mounts", "/data/one", "options"), "host mounts mount options"),
        (("versions", "iostudy"), "versions iostudy"),
        (("hadoop", "hadoop", "version"), "hadoop hadoop version"),
        (("target", "identity"), "target identity"),
        (("seed",), "seed"),
    ],
)
def test_each_difference_is_listed(way: tuple[str, ...], name: str) -> None:
    assert ways(changed(*way, to="other")) == [name]


def test_uninformative_names_are_no_difference() -> None:
    moved = changed("host", "mounts", to={"/elsewhere": BASE["host"]["mounts"]["/data/one"]})
    moved["host"]["block_devices"]["loop0"]["diskseq"] = 77
    moved["host"]["block_devices"]["sdz"]["queue"] = {"nomerges": "2"}
    assert find_differences(BASE, moved) == ()


def test_facts_of_one_study_alone() -> None:
    without = copy.deepcopy(BASE)
    del without["hadoop"]
    (found,) = find_differences(BASE, without)
    assert (found.first, found.second) == ("3.4.2", None)


def test_most_important_difference_is_first() -> None:
    other = changed("host", "kernel", "release", to="6.12")
    other["seed"] = 8
    other["versions"] = {"numpy": "2.5", "iostudy": "0.2.0"}
    other["host"]["cpu"]["count"] = 4
    assert ways(other) == [
        "host kernel release",
        "host cpu count",
        "versions iostudy",
        "versions numpy",
        "seed",
    ]


def test_this_host_does_not_differ_from_itself(tmp_path) -> None:
    circumstances = {"host": dict(collect_inventory([tmp_path])), "target": {"devices": []}}
    assert find_differences(circumstances, copy.deepcopy(circumstances)) == ()


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), json, max_size=4), st.dictionaries(st.text(), json, max_size=4))
def test_any_two_circumstances(first: dict[str, Any], second: dict[str, Any]) -> None:
    there, back = find_differences(first, second), find_differences(second, first)
    assert {(d.way, repr(d.first), repr(d.second)) for d in there} == {
        (d.way, repr(d.second), repr(d.first)) for d in back
    }
