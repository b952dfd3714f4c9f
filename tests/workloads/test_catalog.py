"""Tests of every definition in the workload catalogue, without a run."""

from __future__ import annotations

import pytest

from iostudy.workloads import catalog
from iostudy.workloads.measurement import BYTES
from iostudy.workloads.option_text import format_options


@pytest.mark.parametrize("name", catalog.names())
def test_a_definition_is_complete(name):
    definition = catalog.get(name)
    assert all(field.description for field in definition.options.model_fields.values())
    assert 20 < len(definition.summary) <= 90
    assert definition.not_modelled
    assert definition.source


@pytest.mark.parametrize("name", catalog.names())
def test_the_example_gives_figures_with_units(name):
    definition = catalog.get(name)
    options = definition.options.model_validate(definition.example)
    figures = definition.figures(options)
    assert all(figure.unit and figure.documentation for figure in figures)
    names = [figure.name for figure in figures]
    assert len(names) == len(set(names))
    assert names[0] != BYTES
    assert isinstance(definition.make(options).space_bytes(), int)


@pytest.mark.parametrize("name", catalog.names())
def test_serial_resources_have_shares_in_percent(name):
    definition = catalog.get(name)
    options = definition.options.model_validate(definition.example)
    for own in definition.serial_resources(options):
        shares = [*own.waited, *filter(None, [own.used])]
        assert {definition.figure(share, options).unit for share in shares} == {"%"}


@pytest.mark.parametrize("name", catalog.names())
def test_options_are_written_as_they_can_be_read(name):
    definition = catalog.get(name)
    options = definition.options.model_validate(definition.example)
    assert definition.options.model_validate(options.model_dump(mode="json")) == options
    assert set(format_options(options)) <= set(definition.options.model_fields)
