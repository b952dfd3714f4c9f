"""Tests of ``iostudy workloads``: the list and single descriptions."""

from __future__ import annotations

import json

import pytest

from iostudy.cli.workloads import workloads
from iostudy.errors import UsageError
from iostudy.workloads import catalog
from iostudy.workloads.option_text import example_command


def test_without_a_name_each_has_a_line(capsys):
    workloads()
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [(name, shown.strip()) for name, shown in lines] == [
        (name, catalog.get(name).summary) for name in catalog.names()
    ]


def test_one_workload_is_described_completely(capsys):
    for name in catalog.names():
        workloads(name)
        output = capsys.readouterr().out
        definition = catalog.get(name)
        for text in (definition.models, definition.not_modelled, definition.source):
            assert text in output
        assert all(f"\n  {option} " in output for option in definition.options.model_fields)
        assert f"  - {name}: {{" in output
        assert f"$ {example_command(definition)}" in output


def test_json_lists_the_requested_workloads(capsys):
    workloads("io", json=True)
    (document,) = json.loads(capsys.readouterr().out)
    assert (document["name"], document["verdict_figure"]) == ("io", "iops")
    assert document["figures"][0]["unit"] == "op/s"
    assert document["example_command"].startswith("iostudy bench io")
    workloads(json=True)
    assert [w["name"] for w in json.loads(capsys.readouterr().out)] == list(catalog.names())


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UsageError, match="did you mean iozone"):
        workloads("iozne")
