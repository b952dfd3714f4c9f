"""Tests of every definition in the workload catalogue, without a run."""

from __future__ import annotations

from iostudy.workloads import catalog
from iostudy.workloads.measurement import BYTES
from iostudy.workloads.option_text import example_options, format_options

DEFINITIONS = [catalog.get(name) for name in catalog.names()]


def test_a_definition_is_complete():
    for definition in DEFINITIONS:
        name, fields = definition.name, definition.options.model_fields.values()
        assert all(field.description for field in fields), name
        assert 20 < len(definition.summary) <= 90, name
        assert definition.not_modelled, name
        assert definition.source, name


def test_the_example_gives_figures_with_units():
    for definition in DEFINITIONS:
        options = example_options(definition)
        figures = definition.figures(options)
        assert all(figure.unit and figure.documentation for figure in figures), definition.name
        names = [figure.name for figure in figures]
        assert len(names) == len(set(names)), definition.name
        assert names[0] != BYTES, definition.name
        assert isinstance(definition.make(options).space_bytes(), int), definition.name


def test_serial_resources_have_shares_in_percent():
    for definition in DEFINITIONS:
        options = example_options(definition)
        for resource in definition.serial_resources(options):
            shares = [*resource.waited, *filter(None, [resource.used])]
            units = {definition.figure(share, options).unit for share in shares}
            assert units == {"%"}, definition.name


def test_options_are_written_as_they_can_be_read():
    for definition in DEFINITIONS:
        options = example_options(definition)
        assert definition.options.model_validate(options.model_dump(mode="json")) == options
        assert set(format_options(options)) <= set(definition.options.model_fields)
