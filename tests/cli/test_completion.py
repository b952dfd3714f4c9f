"""Candidates of shell completion, and the scripts of the shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from iostudy.cli import completion
from iostudy.cli.commands import all_commands
from iostudy.cli.completion import FILES, complete
from iostudy.settings import catalog as settings
from iostudy.study import library
from iostudy.workloads import catalog as workloads

SCRIPTS = Path(__file__).parents[2] / "packaging/wheel/data/share"


def test_the_first_word_is_a_command():
    assert {each.name for each in all_commands()} <= set(complete([""]))
    assert set(complete(["se"])) == {"selftest", "set", "settings"}
    assert set(complete(["hadoop", ""])) == {"up", "status", "exec", "down", "logs"}


@pytest.mark.all_plugins
def test_names_of_workloads_studies_and_settings():
    assert set(complete(["bench", ""])) == set(workloads.names())
    assert set(complete(["workloads", "io"])) == {"io", "iozone"}
    assert set(complete(["run", ""])) == {*library.names(), FILES}
    assert set(complete(["get", "block.s"])) == {
        name for name in settings.names() if name.startswith("block.s")
    }
    assert "block.scheduler=" in complete(["set", "block.sch"])


def test_options_and_their_values():
    assert "--fail-on" in complete(["run", "quickstart", "--"])
    assert set(complete(["run", "--fail-on", ""])) == {"worse", "inconclusive"}
    assert "record_size=" in complete(["bench", "io", "-o", "rec"])
    assert set(complete(["run", "--out", ""])) == {FILES}
    assert complete(["schema", ""]) == {}


def test_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "sdq").mkdir()
    monkeypatch.setattr(completion, "BLOCK_DEVICES", tmp_path)
    assert set(complete(["watch", "sd"])) == {"sdq", FILES}
    assert "sdq" in complete(["get", "block.scheduler", "--on", ""])
    monkeypatch.setattr(completion, "BLOCK_DEVICES", tmp_path / "missing")
    assert set(complete(["watch", ""])) == {FILES}


@pytest.mark.child
def test_a_tab_loads_nothing_but_the_standard_library():
    code = "from iostudy.cli import completion; import sys; print(*sys.modules)"
    before = subprocess.check_output([sys.executable, "-c", "import sys; print(*sys.modules)"])
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    new = set(loaded) - set(before.decode().split())
    packages = {name.partition(".")[0] for name in new} - set(sys.stdlib_module_names)
    assert packages == {"iostudy"}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with the program that the scripts of the shells call."""
    program = tmp_path / "iostudy-complete"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m iostudy.cli.completion "$@"\n')
    program.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


@pytest.mark.child
def test_bash_completes(path: str):
    script = SCRIPTS / "bash-completion/completions/iostudy"
    test = (
        f"PATH={path}; compopt() {{ :; }}; source {script}; "
        'COMP_WORDS=(iostudy bench dfs); COMP_CWORD=2; _iostudy; echo "${COMPREPLY[@]}"'
    )
    shown = subprocess.check_output(["bash", "-c", test], text=True).split()
    assert set(shown) == {name for name in workloads.names() if name.startswith("dfs")}


@pytest.mark.child
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(
    ("typed", "becomes"),
    [
        ("bench ioz\t", "bench iozone"),
        ("bench io -o rec\t1MiB", "bench io -o record_size=1MiB"),
        ("run --out own-fol\t", "run --out own-folder"),
    ],
)
def test_zsh_completes(typed: str, becomes: str, path: str, tmp_path: Path):
    (tmp_path / "own-folder").mkdir()
    script = f"""
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell 'PATH={path}; cd {tmp_path}; fpath=({SCRIPTS}/zsh/site-functions $fpath)
            autoload -U compinit; compinit -u -D; iostudy() {{ print "(""$*"")" }}; print rea""dy'
        zpty -r shell shown '*ready*'
        zpty -w shell $'iostudy {typed}'
        zpty -r shell shown '*[(]*[)]*' && print -r -- $shown
    """
    shown = subprocess.check_output(["zsh", "-f", "-c", script], text=True, timeout=300)
    assert f"({becomes})" in shown


@pytest.mark.child
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(path: str, tmp_path: Path):
    script = SCRIPTS / "fish/vendor_completions.d/iostudy.fish"
    (tmp_path / "own.yaml").touch()

    def completed(words: str) -> dict[str, str]:
        command = ["fish", "--no-config", "-c", f"source {script}; complete -C 'iostudy {words}'"]
        environment = {**os.environ, "PATH": path}
        lines = subprocess.check_output(command, text=True, cwd=tmp_path, env=environment)
        return dict((line + "\t").split("\t")[:2] for line in lines.splitlines())

    assert set(completed("bench dfs")) == {
        name for name in workloads.names() if name.startswith("dfs")
    }
    assert completed("check ")["quickstart"] == "ready-made study"
    assert set(completed("bench io -o rec")) == {"record_size="}
    assert set(completed("run ow")) == {"own.yaml"}
