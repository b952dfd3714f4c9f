"""Stateful fakes of programs on PATH, and their failures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.settings import catalog, commands, kinds
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.declarations import Declaration
from iostudy.settings.definition import SettingDefinition


def install(folder: Path, name: str, script: str) -> Path:
    """Make a program of a shell script; ``$state`` is a folder that keeps what it is given."""
    folder.mkdir(exist_ok=True)
    state = folder / "state"
    state.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\nstate={state}\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of programs that come before those of the system."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(commands, "SEARCH_PATH", f"{folder}{os.pathsep}{commands.SEARCH_PATH}")
    yield folder


def bind_declared(
    name: str = "my.knob", place: str = ".", **declaration: object
) -> AttributeSetting:
    """Return the setting of a declaration, as a study file has it."""
    definition = Declaration.model_validate(declaration).define(name, undocumented=True)
    return bind_definition(definition, place)


def bind_definition(definition: SettingDefinition, place: str = ".") -> AttributeSetting:
    catalog.declare({definition.name: definition})
    (setting,) = kinds.bind(definition.name, place)
    assert isinstance(setting, AttributeSetting)
    return setting
