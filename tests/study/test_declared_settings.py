"""Settings that study files and files of settings.d declare, and what goes with a study."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.errors import StudyError, UnsafePathError
from iostudy.settings import catalog
from iostudy.settings.definitions.declared import CommandDefinition
from iostudy.study import declared_settings
from iostudy.study.one_line import OneLine, build_study_text
from iostudy.study.parser import parse
from iostudy.study.privileges import list_root_requirements

STUDY = """
question: Does it matter?
target: /data
{settings}
factors: {{{name}: [a, b]}}
workloads: [io]
"""
OWN = "settings: {my.knob: {read: knob get, write: 'knob set {}'}}"


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folders of the host and of the user."""
    host, user = tmp_path / "etc/settings.d", tmp_path / "config/iostudy/settings.d"
    for folder in (host, user):
        folder.mkdir(parents=True, mode=0o755)
    monkeypatch.setattr(catalog, "_declared", {})
    monkeypatch.setattr(declared_settings, "HOST_FOLDER", host)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return host, user


def study(name: str = "my.knob", settings: str = ""):
    return parse(STUDY.format(name=name, settings=settings), where="s.yaml", name="s")


def writer(name: str = "my.knob") -> str:
    definition = catalog.get(name)
    assert isinstance(definition, CommandDefinition)
    return definition.write[0]


def write(folder: Path, program: str, name: str = "my.yaml") -> Path:
    path = folder / name
    path.write_text(f"settings:\n  my.knob: {{read: x get, write: [{program}, '{{}}', 010]}}\n")
    path.chmod(0o644)
    return path


def test_a_factor_that_the_study_declares() -> None:
    found = study(settings=OWN)
    assert [level.value for level in found.factors[0].levels] == ["a", "b"]
    assert list_root_requirements(found) == ()
    assert found.text == STUDY.format(name="my.knob", settings=OWN)
    with pytest.raises(StudyError, match="unknown factor"):
        study("my.other", OWN)


def test_the_study_holds_then_the_user_then_the_host(folders: tuple[Path, Path]) -> None:
    host, user = folders
    write(host, "host")
    study()
    assert writer() == "host"
    write(user, "user")
    study()
    assert writer() == "user"
    study(settings=OWN)
    assert writer() == "knob"


def test_a_study_carries_what_it_uses_of_files(folders: tuple[Path, Path]) -> None:
    path = write(folders[1], "user")
    text = study().text
    path.unlink()
    catalog._declared.clear()
    assert parse(text, where="ledger", name="s").text == text
    definition = catalog.get("my.knob")
    assert isinstance(definition, CommandDefinition)
    assert definition.write == ("user", "{}", "010")


def test_files_that_another_user_could_change(folders: tuple[Path, Path]) -> None:
    path = write(folders[1], "user")
    path.chmod(0o666)
    with pytest.raises(Exception, match="writable by every user"):
        study()
    path.chmod(0o644)
    folders[1].chmod(0o777)
    with pytest.raises(UnsafePathError, match="writable by every user"):
        study()
    folders[1].chmod(0o755)
    if os.geteuid() == 0:
        os.chown(folders[1], 12345, 12345)
        with pytest.raises(UnsafePathError, match="belongs to user 12345"):
            study()


def test_a_link_to_a_file_of_the_user(folders: tuple[Path, Path], tmp_path: Path) -> None:
    write(tmp_path, "dotfiles", "real")
    (folders[1] / "link.yaml").symlink_to(tmp_path / "real")
    study()
    assert writer() == "dotfiles"


def test_an_error_names_file_and_line(folders: tuple[Path, Path]) -> None:
    path = folders[1] / "my.yaml"
    path.write_text("settings:\n  my.knob:\n    raed: x\n")
    with pytest.raises(StudyError) as caught:
        study()
    assert str(path) in str(caught.value)
    assert "line 3: settings.my.knob.raed: unknown key" in str(caught.value)
    assert "did you mean read?" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("{my knob: {attribute: /sys/x}}", "a name has letters, digits"),
        ("{directory: {attribute: /sys/x}}", "belong to iostudy"),
        ("{sysctl.vm.x: {attribute: /sys/x}}", "belong to iostudy"),
        ("{vm.x: {attribute: /sys/x}}", "belong to iostudy"),
        ("{workload.x: {attribute: /sys/x}}", "belong to iostudy"),
        ("{block.scheduler: {attribute: /sys/x}}", "belong to iostudy"),
        ("{my.knob: {attribute: /etc/x}}", "below /sys or /proc"),
        ("{my.knob: {file: /etc/x}}", "give one of: read and write; file and key; attribute"),
        ("{my.knob: {read: x, write: y}}", "write needs {}"),
        ("{my.knob: {read: x, write: [sh, -c, 'x {}']}}", "give a shell the value as an argument"),
        ("{my.knob: {read: 'x {name}', write: 'y {}'}}", "needs a place that has it"),
        ("{my.knob: {read: x, write: 'y {}', place: disk}}", "a setting of a disk uses {name}"),
    ],
)
def test_declarations_that_are_refused(settings: str, reason: str) -> None:
    with pytest.raises(StudyError) as caught:
        study(settings=f"settings: {settings}")
    assert reason in str(caught.value)


def test_a_shipped_name_can_be_declared_anew() -> None:
    own = "settings: {thp.defrag: {read: x get, write: 'mine {}'}}"
    study("thp.defrag", own)
    assert writer("thp.defrag") == "mine"


def test_paths_are_factors() -> None:
    found = study("/sys/kernel/mm/ksm/run")
    assert found.factors[0].name == "/sys/kernel/mm/ksm/run"
    assert list_root_requirements(found) == ("change /sys/kernel/mm/ksm/run",)
    assert study("/proc/sys/kernel/core_pattern").factors[0].name == "sysctl.kernel.core_pattern"


def test_a_line_can_be_made_into_a_study_twice(tmp_path: Path) -> None:
    """As `iostudy try` does: the first text declares the name."""
    line = OneLine(
        tmp_path,
        command=("true",),
        varied=("recordsize=128K,16K",),
        read="knob get",
        write="knob set {}",
    )
    for _ in range(2):
        text = build_study_text(line, (5, 30))
        assert parse(text, where="try", name="try").factors[0].name == "recordsize"
