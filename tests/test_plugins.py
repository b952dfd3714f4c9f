"""Tests of plugins: what is registered, missing or wrong, and the example of docs/plugins.md."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, distribution
from itertools import chain
from pathlib import Path

import pytest

from iostudy import plugins
from iostudy.cli.mode_text import ModeText
from iostudy.core import registered
from iostudy.errors import RestoreError, UsageError
from iostudy.execution.strategies import Strategy
from iostudy.node.service import ServiceDefinition
from iostudy.persist.formats import PluginFormat
from iostudy.plugins import API, Command, Mode, Plugin, installed
from iostudy.report.plugin_topics import Topic
from iostudy.settings.kinds import rebuild_change
from iostudy.study.mode import TRIALS, WINDOWS
from iostudy.study.parser import parse
from iostudy.study.study_file import CommandKey, DesignKey, ServiceKey
from iostudy.study.targets.target import MountKind, TargetKey
from iostudy.workloads.definition import WorkloadDefinition
from tests.one_interpreter import run_commands

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "plugins").glob("*/pyproject.toml"))
PAGE = (ROOT / "docs" / "plugins.md").read_text("utf-8")


@pytest.mark.all_plugins
def test_every_plugin_of_the_repository_is_installed_with_its_words():
    assert [plugin.name for plugin in installed()] == [file.parent.name for file in FILES]
    for plugin in installed():
        studies = (plugin.studies or ROOT / "none").glob("*.yaml")
        words = {
            *(command.name for command in plugin.commands),
            *(path.stem for path in studies),
            *chain(plugin.workloads, plugin.sections, plugin.targets, plugin.mounts),
            *chain(plugin.kinds, plugin.changes, plugin.owners, plugin.formats),
        }
        begin = plugins._BEGINNINGS.get(plugin.name, ())
        begun = {word for word in words if f"{word}.".startswith(begin)} if begin else set()
        assert words - begun <= set(plugins._WORDS[plugin.name]) <= words


def test_every_reference_is_what_it_says():
    for plugin in registered():
        for command in plugin.commands:
            assert callable(plugins.load(command.ref))
        for name, ref in plugin.workloads.items():
            definition = plugins.load(ref)
            assert isinstance(definition, WorkloadDefinition)
            assert definition.name == name
        for ref in plugin.sections.values():
            assert isinstance(plugins.load(ref), DesignKey | ServiceKey | CommandKey)
        for ref in plugin.topics.values():
            assert isinstance(plugins.load(ref), Topic)
        for ref in plugin.targets.values():
            assert isinstance(plugins.load(ref), TargetKey)
        for ref in plugin.mounts.values():
            kind = plugins.load(ref)
            assert isinstance(kind, MountKind)
            assert callable(plugins.load(kind.prepare))
        for name, ref in plugin.services.items():
            assert isinstance(plugins.load(ref), ServiceDefinition)
            assert isinstance(plugins.load(plugin.sections[name]), ServiceKey)


def test_every_reference_of_settings_and_of_a_journal_is_what_it_says():
    """A change of HDFS's mount could not be undone: its class had moved."""
    for plugin in registered():
        for ref in plugin.formats.values():
            assert isinstance(plugins.load(ref), PluginFormat)
        for kind, ref in chain(plugin.changes.items(), plugin.owners.items()):
            undo = plugins.load(ref)
            assert undo.kind == kind
            assert callable(undo.from_record)
        for ref in chain(plugin.settings.values(), plugin.kinds.values(), plugin.disks.values()):
            assert plugins.load(ref) is not None
        assert all(callable(plugins.load(ref)) for ref in plugin.checks)


def test_a_broken_plugin_keeps_no_other_change_from_being_undone(monkeypatch: pytest.MonkeyPatch):
    """Its error ended the whole recovery."""
    broken = EntryPoint("lab", "missing_module:PLUGIN", plugins.GROUP)
    monkeypatch.setattr(plugins, "_entries", lambda: (broken,))
    with pytest.raises(RestoreError) as caught:
        rebuild_change("modelled-drive", {})
    assert "iostudy[lab]" in caught.value.remedy


@pytest.mark.parametrize("mode", [TRIALS, WINDOWS])
def test_every_reference_of_a_mode_is_what_it_says(mode: Mode):
    check_mode(mode)


def check_mode(mode: Mode) -> None:
    """Load every reference of a mode."""
    assert isinstance(plugins.load(mode.strategy), Strategy)
    assert isinstance(plugins.load(mode.text), ModeText)
    functions = (mode.comparisons, mode.restored, mode.verdict_folder, mode.power, mode.report)
    assert all(callable(plugins.load(ref)) for ref in functions if ref)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_a_plugin_has_the_version_of_the_core_and_needs_it(file: Path):
    version = distribution("iostudy").version
    project = tomllib.loads(file.read_text("utf-8"))["project"]
    assert project["version"] == version
    assert f"iostudy=={version}" in project["dependencies"]
    core = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extra = core["optional-dependencies"][file.parent.name]
    assert extra == [f"iostudy-{file.parent.name}=={version}"]


def test_a_workload_of_a_missing_plugin_names_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(plugins, "_entries", lambda: ())
    monkeypatch.setattr(plugins, "installed", lambda: ())
    text = (
        "question: q?\ntarget: /tmp\nfactors: {workload.jobs: [1, 2]}\nworkloads: [root-events]\n"
    )
    with pytest.raises(UsageError, match=r"pip install 'iostudy\[hep\]'"):
        parse(text, where="study.yaml", name="study")
    with pytest.raises(UsageError, match=r"pip install 'iostudy\[watch\]'"):
        plugins.require_plugin_of("watch", where="the command line")
    plugins.require_plugin_of("run", where="the command line")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("missing_module:PLUGIN", "ModuleNotFoundError"),
        ("iostudy.plugins:NOTHING", "AttributeError"),
        ("iostudy.plugins:API", "is no Plugin"),
        ("tests.test_plugins:LATER", f"version {API + 1} of the API"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named(value: str, found: str):
    with pytest.raises(UsageError, match=found) as caught:
        plugins._load_plugin(EntryPoint("broken", value, plugins.GROUP))
    assert caught.value.where == "the plugin broken"


LATER = Plugin("later", api=API + 1)


def test_two_plugins_with_one_command_are_refused():
    show = Command("show", "Show.", "a:b")
    with pytest.raises(UsageError, match="the command show is of the plugin a, too"):
        plugins._require_distinct([Plugin("a", (show,)), Plugin("b", (show,))])


@pytest.fixture(scope="module")
def other_installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has iostudy's metadata and the example of the page; no other plugin."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name, text in re.findall(r'```\w+ title="(\S+)"\n(.*?)```', PAGE, re.DOTALL):
        (source / name).write_text(text)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(source)], check=True)
    (metadata,) = (path for path in distribution("iostudy").files or () if path.name == "METADATA")
    shutil.copytree(metadata.locate().parent, target / metadata.parent.name)
    return target


def run(folder: Path, *arguments: str, where: Path | None = None) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "iostudy", *arguments]
    done = subprocess.run(
        command, env=environment, cwd=where, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.child
def test_the_example_of_the_page_is_installed_and_runs_in_a_study(other_installation, tmp_path):
    assert "64MiB" in run(other_installation, "workloads", "file-copy")
    (tmp_path / "study.yaml").write_text(
        "question: Does the size matter?\ntarget: .\nfactors: {workload.size: [1MiB, 4MiB]}\n"
        "workloads: [file-copy]\ndecide: {margin: 20%, risk: 5%, blocks: [3, 3]}\n"
    )
    printed = run(other_installation, "run", "study.yaml", "--out", "out", where=tmp_path)
    assert (tmp_path / "out" / "report.json").exists(), printed


@pytest.mark.child
def test_a_word_of_a_missing_plugin_names_what_to_install(other_installation, tmp_path):
    for name, section in (("budget", "search: {budget: 2h}"), ("design", "design: full")):
        text = f"question: Which?\ntarget: .\n{section}\nworkloads: [io]\n"
        (tmp_path / f"{name}.yaml").write_text(text)
    named = {
        "check budget.yaml": "search",
        "check design.yaml": "search",
        "bench terasort": "hadoop",
        "bench dfsio-read": "hadoop",
        "check schedulers-native-smoke": "hadoop",
        "bench events": "hep",
        "check hep-events": "hep",
        "watch": "watch",
    }
    environment = {**os.environ, "PYTHONPATH": str(other_installation)}
    ran = run_commands([*map(str.split, named)], tmp_path, environment)
    for command, (code, printed) in zip(named, ran, strict=True):
        assert code == 2, printed
        assert f"pip install 'iostudy[{named[command]}]'" in printed, command
    assert " watch " not in run(other_installation, "--help")
