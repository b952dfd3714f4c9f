"""Tests of option texts, which study files and shells accept unchanged."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, Field

from iostudy.cli.bench.command import parse_options
from iostudy.study.source import read as read_yaml
from iostudy.units import parse_percent
from iostudy.workloads import catalog
from iostudy.workloads.option_text import (
    REQUIRED,
    describe_allowed,
    example_command,
    example_options,
    format_flow,
    list_options,
    study_lines,
)
from iostudy.workloads.option_types import Count, Options, Seconds, Size
from tests.study.files import GOOD, read

TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)
VALUES = st.recursive(
    st.booleans() | st.integers(-(10**6), 10**6) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


DEFINITIONS = [catalog.get(name) for name in catalog.names()]
ON_A_HOST = [definition for definition in DEFINITIONS if not definition.only_simulated]


def test_the_example_of_a_workload_is_one_in_a_study_file():
    head, _, tail = GOOD.partition("workloads:\n")
    rest = tail[tail.index("decide:") :]
    for definition in ON_A_HOST:
        (study,) = read(f"{head}{study_lines(definition)}\n{rest}").workloads
        assert study.options == example_options(definition)
        assert study.figure == definition.figures(study.options)[0]


def test_the_example_of_a_workload_is_one_on_the_command_line():
    for definition in ON_A_HOST:
        program, command, name, *options = shlex.split(example_command(definition))
        assert (program, command, name) == ("iostudy", "bench", definition.name)
        assert options[::2] == ["-o"] * (len(options) // 2)
        assert parse_options(definition, options[1::2]) == example_options(definition)


def test_every_option_has_its_allowed_values():
    for definition in DEFINITIONS:
        for option, default, allowed, meaning in list_options(definition):
            field = definition.options.model_fields[option]
            assert allowed, (definition.name, option)
            assert meaning == field.description
            assert (default == REQUIRED) is field.is_required(), (definition.name, option)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3))
def test_a_value_on_one_line_reads_back_as_itself(value):
    text = format_flow(value)
    assert "\n" not in text
    assert read_yaml(f"value: {text}", "test").values["value"] == value


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class InnerOptions(BaseModel):
    one: int
    two: int


class Model(Options):
    """An option of every kind."""

    size: Size = 1
    count: Count = 1
    time: Seconds = 1.0
    share: Annotated[float, BeforeValidator(parse_percent)] = 0.1
    flag: bool = True
    whole: int = 1
    least: Annotated[int, Field(ge=1)] = 1
    between: Annotated[float, Field(gt=0, lt=2.5)] = 1.0
    limited: Annotated[int, Field(ge=1, le=4096)] = 1
    place: Path = Path()
    perhaps_some: Annotated[int, Field(ge=1)] | None = None
    choice: Literal["a", "b", "c"] = "a"
    colour: Colour = Colour.RED
    perhaps: Size | None = None
    several: tuple[Size, ...] = ()
    either: str | list[str] = ""
    named: dict[str, InnerOptions] = Field({})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("size", "a size such as 256MiB"),
        ("count", "a count such as 250 or 10M"),
        ("time", "a time such as 300ms or 30s"),
        ("share", "a percentage such as 3%"),
        ("flag", "true or false"),
        ("whole", "a whole number"),
        ("least", "a whole number, 1 or more"),
        ("between", "a number, more than 0, less than 2.5"),
        ("limited", "a whole number, 1 to 4096"),
        ("place", "a path"),
        ("perhaps_some", "a whole number, 1 or more"),
        ("choice", "a, b or c"),
        ("colour", "red or blue"),
        ("perhaps", "a size such as 256MiB"),
        ("several", "a list, each a size such as 256MiB"),
        ("either", "a text or a list, each a text"),
        ("named", "a mapping, each value a mapping of one, two"),
    ],
)
def test_allowed_values_are_words(name, words):
    assert describe_allowed(Model.model_fields[name]) == words


def test_a_kind_without_words_is_an_error_of_whoever_adds_it():
    class UndescribedOptions(Options):
        value: Any = None

    with pytest.raises(TypeError, match="no words"):
        describe_allowed(UndescribedOptions.model_fields["value"])
