"""Workloads and their figures, for the tests of those that run on Hadoop."""

from __future__ import annotations

from iostudy.workloads import catalog


def workload(name, **options):
    definition = catalog.get(name)
    return definition.make(definition.options.model_validate(options))


def require_declared(name, measured, **options):
    """Every figure that the definition declares is there, and no other."""
    definition = catalog.get(name)
    declared = definition.figures(definition.options.model_validate(options))
    assert measured.figures.keys() == {figure.name for figure in declared}
