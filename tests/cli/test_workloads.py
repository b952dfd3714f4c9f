"""The catalogue of workloads, as a list and one by one."""

from __future__ import annotations

import json

import pytest

from iostudy.cli.workloads import workloads
from iostudy.errors import UsageError
from iostudy.workloads import catalog


def test_without_a_name_each_has_a_line(capsys):
    workloads()
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [(name, told.strip()) for name, told in lines] == [
        (name, catalog.get(name).summary) for name in catalog.names()
    ]


@pytest.mark.parametrize("name", catalog.names())
def test_one_is_told_whole(name, capsys):
    workloads(name)
    told = capsys.readouterr().out
    definition = catalog.get(name)
    for text in (definition.models, definition.not_modelled, definition.source):
        assert text in told
    assert all(f"\n  {option} " in told for option in definition.options.model_fields)
    assert f"  - {name}: {{" in told
    assert f"$ iostudy bench {name} -o " in told


def test_json_is_a_list_of_those_that_were_asked_for(capsys):
    workloads("dfsio-read", json=True)
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["name"], told["verdict_figure"]) == ("dfsio-read", "aggregate")
    assert told["figures"][0]["unit"] == "MiB/s"
    assert told["example_command"].startswith("iostudy bench dfsio-read")
    workloads(json=True)
    assert [w["name"] for w in json.loads(capsys.readouterr().out)] == list(catalog.names())


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UsageError, match="did you mean dfsio-read"):
        workloads("dfsio-raed")
