"""Tests of ``on``: the devices of a factor, several of them as one level."""

from __future__ import annotations

import pytest

from tests.study.files import GOOD, only_problem, read

FACTOR = "block.scheduler: [none, bfq]"


@pytest.mark.parametrize(
    ("on", "places"),
    [
        ("sdb", ("sdb",)),
        ("[sdb, sdc]", ("sdb", "sdc")),
        ("members of vg0", ("members of vg0",)),
        ("[members of vg0, /srv/my data]", ("members of vg0", "/srv/my data")),
    ],
)
def test_places_go_with_each_configuration(on, places):
    study = read(GOOD.replace(FACTOR, f"block.scheduler: {{levels: [none, bfq], on: {on}}}"))
    assert [c.label for c in study.configurations()] == ["none", "bfq"]
    assert all(c.places == {"block.scheduler": places} for c in study.configurations())


@pytest.mark.parametrize(
    ("levels", "labels"),
    [("{before: none, after: bfq}", ["before", "after"]), ("[none, kyber]", ["none", "kyber"])],
)
def test_levels_with_places_have_any_form(levels, labels):
    study = read(GOOD.replace(FACTOR, f"block.scheduler: {{levels: {levels}, on: sdb}}"))
    assert [c.label for c in study.configurations()] == labels


def test_offered_levels_have_places():
    study = read(GOOD.replace(FACTOR, "block.scheduler: {levels: offered, on: [sdb, sdc]}"))
    (factor,) = study.awaiting_offer()
    assert factor.on == ("sdb", "sdc")


def test_without_places_it_is_the_target():
    study = read(GOOD.replace(FACTOR, "block.scheduler: {levels: [none, bfq]}"))
    assert study.baseline.places == {}


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        ("block.scheduler: {levels: [none], on: []}", "on is a device, a path"),
        ("block.scheduler: {levels: [none], on: ''}", "on is a device, a path"),
        ('block.scheduler: {levels: [none], on: "a\\nb"}', "on is a device, a path"),
        ("block.scheduler: {levels: [none], on: {sdb: sdc}}", "a single value is wanted"),
        ("block.scheduler: {levels: [none], on: [[sdb]]}", "a single value is wanted"),
        ("block.scheduler: {levels: [none], on: [sdb, sdb]}", "on names sdb twice"),
        ("block.scheduler: {levels: [none], at: sdb}", "unknown key"),
        ("block.scheduler: {levels: none, on: sdb}", "levels are a list"),
        ("workload.direct: {levels: [true], on: sdb}", "an option of the workloads has no place"),
        ("limit.nofile_soft: {levels: [9000], on: sdb}", "the workload's own processes, which has"),
        ("sysctl.vm.swappiness: {levels: [1], on: sdb}", "the whole host, which has no place"),
    ],
)
def test_an_invalid_place_is_refused_at_its_line(factor, words):
    problem = only_problem(FACTOR, factor)
    assert problem.line == 4
    assert words in problem.message


def test_a_name_that_the_catalogue_makes_up_is_a_factor():
    study = read(GOOD.replace(FACTOR, "sysctl.net.core.somaxconn: [128, 4096]"))
    assert study.baseline.settings == {"sysctl.net.core.somaxconn": "128"}
