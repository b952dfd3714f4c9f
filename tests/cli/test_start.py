"""Tests of start-up: slow libraries are imported only by the commands that use them."""

import os
import subprocess
import sys

import pytest

from iostudy.cli.commands import all_commands, load
from iostudy.plugins import installed

pytestmark = pytest.mark.child


@pytest.mark.parametrize(
    ("started", "late"),
    [
        ("iostudy.cli.run", {"numpy", "pydantic", "iostudy.study.model"}),
        ("iostudy.cli.report_output", {"scipy", "optuna", "vl_convert"}),
    ],
    ids=["the options of run", "every report"],
)
def test_start_up_imports_no_slow_library(started: str, late: set[str]) -> None:
    code = f"import {started}, sys; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert started in loaded
    assert late.isdisjoint(loaded)


ALLOWED = {"iostudy", "typer", "click", "rich", "shellingham", "typing_extensions", "annotated_doc"}
"""Packages outside the standard library that printing a version may import."""
PLUGINS = {f"iostudy_{plugin.name}" for plugin in installed()}
OWN = {
    "cli",
    "core",
    "drives",
    "durable",
    "errors",
    "hadoop",
    "host",
    "plugins",
    "report",
    "safe_path",
    "settings",
    "units",
    "visible",
}


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_import_nothing_but_the_command_line(argument: str) -> None:
    code = (
        "import atexit, sys; from iostudy.cli.main import main; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); main()"
    )
    before = subprocess.check_output([sys.executable, "-c", "import sys; print(*sys.modules)"])
    done = subprocess.run(
        [sys.executable, "-c", code, argument], capture_output=True, text=True, check=True
    )
    modules = set(done.stderr.split()) - set(before.decode().split())
    packages = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names)
    assert {name for name in packages if not name.startswith("_")} <= ALLOWED | PLUGINS
    own = {name.split(".")[1] for name in modules if name.startswith("iostudy.")}
    assert own <= OWN
    heavy = {"iostudy.settings.kinds", "iostudy.settings.catalog", "iostudy.cli.run"}
    assert heavy.isdisjoint(modules)


def test_the_help_lists_every_command_with_its_summary_uncut() -> None:
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.check_output(
        [sys.executable, "-m", "iostudy", "--help"], text=True, env=environment
    )
    width = max(len(command.name) for command in all_commands())
    for command in all_commands():
        assert f"  {command.name:<{width}}  {command.summary}\n" in done


def test_every_command_is_loaded_with_help_of_its_own() -> None:
    for command in all_commands():
        loaded = load(command)
        assert loaded.name == command.name
        assert loaded.get_short_help_str(), command.name


@pytest.mark.parametrize("text", ["0s", "-1h", "soon"])
def test_max_time_must_be_a_positive_time(program, text):
    done = program("run", "study.yaml", "--max-time", text)
    assert (done.returncode, "--max-time 2h" in done.stderr) == (2, True)
