"""Settings of two commands: read back, proven, restored, and every way in which they fail."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from iostudy.errors import OutOfReachError, RestoreError, SettingError, TargetError, UnsafePathError
from iostudy.host import devices
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.change import Change, ConflictPolicy
from iostudy.settings.declarations import Declaration
from iostudy.settings.filesystem_location import FilesystemLocation
from iostudy.settings.identity import DeviceIdentity
from tests.mounts import mounted
from tests.settings.programs import bin_folder, bind_declared, bind_definition, install

pytestmark = pytest.mark.child
__all__ = ["bin_folder"]

KNOB = """
log() { echo "$*" >>"$state/log"; }
case $1 in
get) cat "$state/value" ;;
set) log "set $2"; echo "$2" >"$state/value" ;;
esac
"""


@pytest.fixture
def value(bin_folder: Path) -> Path:
    install(bin_folder, "knob", KNOB)
    path = bin_folder / "state/value"
    path.write_text("131072\n")
    return path


def knob(**more: object) -> AttributeSetting:
    return bind_declared(read="knob get", write="knob set {}", **more)


def at_mount(point: Path, *, read: str, write: str) -> AttributeSetting:
    declared = Declaration.model_validate({"place": "mount", "read": read, "write": write})
    return bind_definition(declared.define("my.knob", undocumented=True), str(point))


def change(setting: AttributeSetting, value: str) -> Change:
    (found,) = kinds.prepare_changes({setting: value})
    return found


def again(own: Change) -> Change:
    """The change as a recovery rebuilds it from its journal."""
    return kinds.rebuild_change(own.kind, json.loads(json.dumps(own.record())))


def log(value: Path) -> list[str]:
    return (value.parent / "log").read_text().splitlines()


def test_it_is_proven_written_read_back_and_restored(value: Path) -> None:
    own = change(knob(), "16384")
    own.apply()
    assert value.read_text() == "16384\n"
    assert [str(each) for each in again(own).undo()] == ["my.knob of this host: 16384 -> 131072"]
    assert again(own).undo() == ()
    assert log(value) == ["set 131072", "set 16384", "set 131072"]
    second = change(knob(), "8192")
    second.apply()
    second.undo()
    assert log(value)[3:] == ["set 8192", "set 131072"]  # proven once


def test_a_size_comes_back_in_another_form(value: Path, bin_folder: Path) -> None:
    install(bin_folder, "knob", KNOB.replace('echo "$2" >', 'numfmt --from=iec "$2" >'))
    own = change(knob(), "16K")
    own.apply()
    assert value.read_text() == "16384\n"
    own.undo()
    assert value.read_text() == "131072\n"


def test_declared_equals_and_a_command_that_normalises(value: Path) -> None:
    value.write_text("Enabled (1)\n")
    setting = knob(
        equals={"on": "enabled", "off": ["disabled", "0"]}, normalise="sed 's/ .*//; s/E/e/'"
    )
    assert setting.read() == "on"


def test_the_program_and_the_search_path_are_in_the_journal(value: Path, monkeypatch) -> None:
    own = change(knob(), "16384")
    own.apply()
    record = json.loads(json.dumps(own.record()))
    monkeypatch.setenv("PATH", "/nonexistent")
    kinds.rebuild_change(own.kind, record).undo()
    assert value.read_text() == "131072\n"
    assert record["owner"]["writes"][0].endswith("/bin/knob")


def test_no_variable_of_the_caller_reaches_it(bin_folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("LD_PRELOAD_MARK", "1")
    install(bin_folder, "knob", 'env | cut -d= -f1 | sort | tr "\\n" " "')
    assert set(knob().read().split()) <= {"HOME", "LC_ALL", "PATH", "PWD", "OLDPWD", "SHLVL", "_"}


def test_no_text_of_a_value_is_a_command(value: Path, tmp_path: Path) -> None:
    evil = f"$(touch {tmp_path}/evil); touch {tmp_path}/evil"
    value.write_text(f"{evil}\n")
    own = change(knob(), "1")
    own.apply()
    own.undo()
    assert value.read_text() == f"{evil}\n"
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 7", "ended with 7"),
        ("echo no such pool >&2; exit 1", "no such pool"),
        ("exec sleep 100", "did not end in time"),
        ("sleep 100 & sleep 100 & wait", "did not end in time"),
        ("setsid sleep 100 & exec sleep 100", "did not end in time"),
        ("trap '' TERM INT HUP; while :; do sleep 1; done", "did not end in time"),
        ("exec yes", "more than 65536 bytes"),
        ("exec cat /dev/zero", "more than 65536 bytes"),
        ("yes >&2", "more than 65536 bytes"),
        ("printf 'a\\000b\\n'", "not a line of printable text"),
        ("printf '\\377\\376\\n'", "not a line of printable text"),
        ("printf 'a\\nb\\n'", "not a line of printable text"),
        ("printf '\\033[31mred\\n'", "not a line of printable text"),
        (":", "it is nothing"),
        ("head -c 5000 /dev/zero | tr '\\0' x", "more than 4095 bytes"),
        ("kill -9 $$", "ended with -9"),
        ("kill -9 $PPID", "was killed"),
    ],
)
def test_a_read_that_fails(bin_folder: Path, script: str, reason: str) -> None:
    install(bin_folder, "knob", script)
    with pytest.raises(SettingError, match=reason) as caught:
        knob(timeout="300ms").read()
    assert "\033" not in str(caught.value)
    assert "knob get" in caught.value.where


def test_a_server_that_it_leaves_does_not_delay_it(value: Path, bin_folder: Path) -> None:
    install(bin_folder, "knob", KNOB + "sleep 60 &\n")
    assert knob().read() == "131072"  # an error if it waited for the server: 10 s are allowed


def test_a_write_that_fails_leaves_everything(value: Path, bin_folder: Path) -> None:
    install(
        bin_folder,
        "knob",
        KNOB.replace("set)", "set) [ $2 = 131072 ] || { echo bad >&2; exit 2; };"),
    )
    with pytest.raises(SettingError, match=r"its command refused .*bad") as caught:
        change(knob(), "7").apply()
    assert "knob set 7" in caught.value.remedy
    assert value.read_text() == "131072\n"


def test_a_value_that_is_not_taken_back_is_not_changed(value: Path) -> None:
    """It reads 131072 (default), which it does not take."""
    install(
        value.parent.parent, "knob", 'case $1 in get) echo "131072 (default)";; set) exit 3;; esac'
    )
    with pytest.raises(SettingError, match=r"a way back for my.knob"):
        change(knob(), "16384").apply()
    assert value.read_text() == "131072\n"


def test_a_write_that_lies(value: Path, bin_folder: Path) -> None:
    install(bin_folder, "knob", 'case $1 in get) cat "$state/value";; set) :;; esac')
    with pytest.raises(SettingError, match="the actual value is 131072"):
        change(knob(), "16384").apply()


def test_a_read_that_lies(value: Path, bin_folder: Path) -> None:
    install(
        bin_folder,
        "knob",
        'n=$(cat "$state/n" 2>/dev/null); echo $((n + 1)) >"$state/n"; echo $n 1',
    )
    with pytest.raises((SettingError, RestoreError)):
        change(knob(), "5").apply()


def test_a_restore_that_hangs_names_what_to_type(value: Path, bin_folder: Path) -> None:
    own = change(knob(timeout="300ms"), "16K")
    install(
        bin_folder,
        "knob",
        KNOB.replace("set)", "set) [ $2 = 16384 ] || sleep 50 ;").replace(
            'echo "$2" >', 'numfmt --from=iec "$2" >'
        ),
    )
    with pytest.raises((SettingError, RestoreError)):
        own.apply()
    install(bin_folder, "knob", KNOB.replace("set)", "set) sleep 50 ;"))
    value.write_text("16384\n")
    with pytest.raises(RestoreError, match="did not end in time") as caught:
        again(own).undo()
    assert caught.value.exit_code == 4
    assert f"{bin_folder}/knob set 131072" in caught.value.remedy


def test_a_value_that_cannot_be_read_now_is_written(value: Path, bin_folder: Path) -> None:
    """As a mount that a kill left unmounted between two steps of its script."""
    own = change(knob(), "16384")
    own.apply()
    value.unlink()
    again(own).undo()
    assert value.read_text() == "131072\n"


def test_another_process_has_changed_it(value: Path) -> None:
    own = change(knob(), "16384")
    own.apply()
    value.write_text("4096\n")
    with pytest.raises(RestoreError, match="another process"):
        again(own).undo()
    assert value.read_text() == "4096\n"
    again(own).undo(ConflictPolicy.OVERWRITE)
    assert value.read_text() == "131072\n"


def test_another_file_system_is_mounted_there(value: Path, tmp_path: Path, monkeypatch) -> None:
    """Its command would change that, or a disk that has the old name now."""
    place = FilesystemLocation("uuid", 1, "8:16", "ext4", "/dev/sdb", "/", "boot")
    monkeypatch.setattr(FilesystemLocation, "find", lambda _: place)
    own = change(at_mount(tmp_path, read="knob get {mount}", write="knob set {} {mount}"), "16384")
    own.apply()
    for now in (None, replace(place, uuid="other"), replace(place, source="/dev/sdc")):
        monkeypatch.setattr(FilesystemLocation, "find", lambda _, now=now: now)
        with pytest.raises(OutOfReachError, match=r"ext4 on /dev/sdb, UUID uuid\) is not"):
            again(own).undo()
    assert value.read_text() == "16384\n"
    monkeypatch.setattr(FilesystemLocation, "find", lambda _: replace(place, boot="next"))
    again(own).undo()
    assert value.read_text() == "131072\n"


def test_a_disk_that_is_not_here_may_keep_its_value(value: Path, monkeypatch) -> None:
    """After a reboot, or when it was pulled, another disk may have its name."""
    own = change(knob(), "16384")
    own.apply()
    disk = SimpleNamespace(number="8:16", wwid="naa.5", serial="", backing_file=None)
    monkeypatch.setattr(devices, "read_device", lambda _: disk)
    identity = DeviceIdentity("sdb", "8:16", 3, "naa.5", "another boot", 1)
    for other in ({"unique": "naa.6"}, {"unique": ""}, {"number": "8:32"}):
        device = replace(identity, **other)
        with pytest.raises(OutOfReachError, match="is not found under its name") as caught:
            again(replace(own, owner=replace(own.owner, device=device))).undo()
        assert "/knob set 131072" in caught.value.remedy
    assert value.read_text() == "16384\n"
    loop = replace(own, owner=replace(own.owner, device=replace(identity, number="7:1")))
    assert again(loop).undo() == ("this host: the host has been rebooted, and its changes with it",)
    assert value.read_text() == "16384\n"
    again(replace(own, owner=replace(own.owner, device=identity))).undo()
    assert value.read_text() == "131072\n"


def test_a_journal_of_a_version_without_the_file_system(value: Path, tmp_path: Path) -> None:
    own = change(at_mount(tmp_path, read="knob get {mount}", write="knob set {} {mount}"), "16384")
    own.apply()
    record = json.loads(json.dumps(own.record()))
    del record["owner"]["mounted"]
    kinds.rebuild_change(own.kind, record).undo()
    assert value.read_text() == "131072\n"


@pytest.mark.root
def test_the_value_of_another_disk_stays(two_loops: tuple[str, str], tmp_path: Path) -> None:
    point = tmp_path / "point"
    first, second = (f"/dev/{name}" for name in two_loops)
    for disk in (first, second):
        subprocess.run(["mkfs.ext4", "-q", "-L", "old", disk], check=True)
    with mounted(point, first):
        own = change(at_mount(point, read="e2label {source}", write="e2label {source} {}"), "new")
        own.apply()
    with pytest.raises(OutOfReachError, match="is not mounted there"):
        again(own).undo()
    subprocess.run(["e2label", second, "new"], check=True)
    with mounted(point, second), pytest.raises(OutOfReachError, match="is not mounted there"):
        again(own).undo()
    with mounted(point, first):
        assert [str(each) for each in again(own).undo()] == [f"my.knob of {point}: new -> old"]
    label = subprocess.run(["e2label", second], check=True, capture_output=True, text=True)
    assert label.stdout == "new\n"


def test_programs_that_are_missing_or_of_others(bin_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"program nonesuch of my.knob"):
        bind_declared(read="nonesuch", write="nonesuch {}")
    program = install(bin_folder, "knob", KNOB)
    program.chmod(0o777)
    with pytest.raises(UnsafePathError, match="writable by every user"):
        knob()
    if os.geteuid() == 0:
        program.chmod(0o755)
        os.chown(program, 12345, 12345)
        with pytest.raises(UnsafePathError, match="belongs to user 12345"):
            knob()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    other = install(tmp_path / "open", "other", KNOB)
    with pytest.raises(UnsafePathError, match="open is writable"):
        bind_declared(read=[str(other), "get"], write=[str(other), "set", "{}"])


def test_a_program_that_was_replaced_is_not_run(
    value: Path, bin_folder: Path, tmp_path: Path
) -> None:
    own = change(knob(), "16384")
    own.apply()
    (bin_folder / "knob").chmod(0o777)
    with pytest.raises(RestoreError, match=r"a path that only root|writable by every user"):
        again(own).undo()
