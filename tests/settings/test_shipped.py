"""Settings that come with iostudy as declarations, against fakes that keep state."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError
from iostudy.settings import catalog, kinds
from iostudy.settings.attributes import AttributeSetting
from iostudy.settings.definitions.declared import (
    AttributeDefinition,
    CommandDefinition,
    DeclaredDefinition,
)
from iostudy.settings.kinds import command
from iostudy.settings.kinds.declared import Location, Runner, ValueForm
from tests.settings.programs import bin_folder, install

pytestmark = pytest.mark.child
__all__ = ["bin_folder"]

ZFS = """
property() { cat "$state/$1" 2>/dev/null || echo "131072 default"; }
case $1 in
get) set -- $(property $4) "$3" && if [ "$3" = value ]; then echo "$1"; else echo "$2"; fi ;;
set) [ "$3" = tank/db ] || { echo "cannot open '$3': dataset does not exist" >&2; exit 1; }
  case $2 in *=7) echo "invalid value" >&2; exit 1 ;; esac
  echo "$(numfmt --from=iec "${2#*=}") local" >"$state/${2%%=*}" ;;
inherit) rm -f "$state/$2" "$state/$3"
  [ "$2" != -S ] || echo "4096 received" >"$state/$3" ;;
esac
"""
HDPARM = """
case $1 in
-W) value=$(cat "$state/wce" 2>/dev/null || echo 1)
  printf '\\n%s:\\n write-caching =  %s (on)\\n' "$2" "$value" ;;
-W*) [ -z "$frozen" ] && echo "${1#-W}" >"$state/wce" ;;
esac
"""
SDPARM = """
case $2 in
--get=WCE) value=$(cat "$state/wce" 2>/dev/null || echo 1)
  echo "WCE           $value  [cha: y, def:  1, sav:  1]" ;;
--set=WCE=*) echo "${2##*=}" >"$state/wce" ;;
esac
"""
NVME = """
value=$(cat "$state/$3" 2>/dev/null || echo 1)
case $1 in
get-feature) printf 'get-feature:0x06 (Name), Current value:0x%08x\\n' "$value" ;;
set-feature) echo "${4#--value=}" >"$state/$3" ;;
esac
"""
TUNED = """
profile=$(cat "$state/profile" 2>/dev/null)
case $1 in
active) if [ -n "$profile" ]; then echo "Current active profile: $profile"
  else echo "No current active profile."; fi ;;
off) : >"$state/profile" ;;
profile) shift; echo "$*" >"$state/profile" ;;
esac
"""


def bind_at(name: str, **placeholders: str) -> AttributeSetting:
    """Bind a shipped pair of commands at a place that this machine need not have."""
    definition = catalog.get(name)
    assert isinstance(definition, CommandDefinition)
    return command._bind(definition, Location("place", tuple(placeholders.items())))


def cycle(setting: AttributeSetting, value: str) -> tuple[str, str]:
    """Change the setting, and restore it from its journal record; the values before and under."""
    before = setting.read()
    (change,) = kinds.prepare_changes({setting: setting.definition.parse(value)})
    change.apply()
    under = setting.read()
    kinds.rebuild_change(change.kind, json.loads(json.dumps(change.record()))).undo()
    assert setting.read() == before
    return before, under


def test_every_name_has_words_for_a_person() -> None:
    for name in catalog.names():
        definition = catalog.get(name)
        if isinstance(definition, DeclaredDefinition):
            assert definition.documentation.endswith("."), name
            assert definition.source, name
            assert definition.default, name
            assert not definition.undocumented, name


@pytest.mark.parametrize("name", ["recordsize", "compression", "logbias", "primarycache", "sync"])
def test_an_inherited_property_of_zfs_is_inherited_again(bin_folder: Path, name: str) -> None:
    install(bin_folder, "zfs", ZFS)
    setting = bind_at(f"zfs.{name}", source="tank/db")
    assert cycle(setting, "16384") == ("inherit (131072)", "16384")
    assert not (bin_folder / f"state/{name}").exists()
    (bin_folder / f"state/{name}").write_text("8192 local\n")
    assert cycle(setting, "16K") == ("8192", "16384")
    (bin_folder / f"state/{name}").write_text("4096 received\n")
    assert cycle(setting, "16K") == ("received (4096)", "16384")


def test_failures_of_zfs(bin_folder: Path) -> None:
    install(bin_folder, "zfs", ZFS)
    with pytest.raises(SettingError, match="dataset does not exist"):
        cycle(bind_at("zfs.recordsize", source="tank/other"), "16K")
    with pytest.raises(SettingError, match="invalid value"):
        cycle(bind_at("zfs.recordsize", source="tank/db"), "7")
    install(bin_folder, "zfs", "echo no pools >&2; exit 1")
    with pytest.raises(SettingError, match="no pools"):
        bind_at("zfs.recordsize", source="tank/db").read()


@pytest.mark.parametrize(
    ("tool", "script", "name"),
    [
        ("hdparm", HDPARM, "ata.write_cache"),
        ("sdparm", SDPARM, "scsi.write_cache"),
        ("nvme", NVME, "nvme.write_cache"),
    ],
)
def test_write_caches_of_drives(bin_folder: Path, tool: str, script: str, name: str) -> None:
    install(bin_folder, tool, script)
    assert cycle(bind_at(name, path="/dev/sda"), "0") == ("1", "0")
    install(bin_folder, tool, "echo no such device >&2; exit 5")
    with pytest.raises(SettingError, match="no such device"):
        bind_at(name, path="/dev/sda").read()


def test_a_frozen_drive(bin_folder: Path) -> None:
    install(bin_folder, "hdparm", f"frozen=1\n{HDPARM}")
    with pytest.raises(SettingError):
        cycle(bind_at("ata.write_cache", path="/dev/sda"), "0")


def test_power_states_are_decimal(bin_folder: Path) -> None:
    install(bin_folder, "nvme", NVME)
    (bin_folder / "state/--feature-id=2").write_text("10\n")
    assert cycle(bind_at("nvme.power_state", path="/dev/nvme0n1"), "3") == ("10", "3")


def test_profiles_of_tuned_are_levels(bin_folder: Path) -> None:
    install(bin_folder, "tuned-adm", TUNED)
    setting = bind_at("tuned.profile")
    assert cycle(setting, "throughput-performance") == ("off", "throughput-performance")
    (bin_folder / "state/profile").write_text("balanced my-own\n")
    assert cycle(setting, "latency-performance") == ("balanced my-own", "latency-performance")
    assert (bin_folder / "state/profile").read_text() == "balanced my-own\n"


def test_iocost_of_a_disk_alone(tmp_path: Path) -> None:
    """The kernel's file has a line for each configured disk, and takes one line."""
    for name in ("iocost.qos", "iocost.model"):
        definition = catalog.get(name)
        assert isinstance(definition, CommandDefinition)
        file = tmp_path / f"io.cost.{name.partition('.')[2]}"
        update = (
            f'grep -v "^$2 " "{file}" >"{file}.new"; '
            f'echo "$2 $line" >>"{file}.new"; mv "{file}.new" "{file}"'
        )
        read, write = (
            tuple(each.replace("/sys/fs/cgroup", str(tmp_path)) for each in own)
            for own in (definition.read, definition.write)
        )
        write = tuple(w.replace(f'echo "$2 $line" >"{tmp_path}/io.cost.$1"', update) for w in write)
        moved = replace(definition, read=read, write=write)
        setting = command._bind(moved, Location("sda", (("number", "8:0"),)))
        file.write_text("8:16 enable=1 ctrl=user\n")
        line = "enable=1 ctrl=user rpct=95.00" if name.endswith("qos") else "ctrl=user model=linear"
        assert cycle(setting, line) == ("auto", line)
        assert "8:16 enable=1 ctrl=user\n" in file.read_text()


@pytest.mark.parametrize(
    ("text", "value"), [("1000 (system)", "system"), ("2000 (local)", "2000"), ("3000", "3000")]
)
def test_sync_speeds_of_md_without_their_remark(text: str, value: str) -> None:
    definition = catalog.get("md.sync_speed_min")
    assert isinstance(definition, AttributeDefinition)
    runner = Runner.of(definition)
    form = ValueForm((), runner.resolve(definition.normalise, "md"))
    assert form.convert(f"{text}\n", runner) == value


FINDMNT = """
[ -e "$state/mounted" ] || exit 1
case $3 in OPTIONS) cat "$state/mounted" ;; FSTYPE) echo nfs4 ;; esac
"""
UMOUNT = '[ ! -e "$state/busy" ] || { echo target is busy >&2; exit 32; }; rm "$state/mounted"'
MOUNT = 'echo "$4" >"$state/mounted"'


@pytest.fixture
def nfs(bin_folder: Path) -> Path:
    for name, script in (("findmnt", FINDMNT), ("umount", UMOUNT), ("mount", MOUNT)):
        install(bin_folder, name, script)
    return bin_folder / "state"


def nfs_setting(name: str, folder: Path) -> AttributeSetting:
    """The setting, with its notes in a folder of the test."""
    definition = catalog.get(name)
    assert isinstance(definition, CommandDefinition)
    write = tuple(each.replace("/run/", f"{folder}/") for each in definition.write)
    location = Location("/data", (("mount", "/data"), ("source", "server:/export")))
    return command._bind(replace(definition, write=write), location)


@pytest.mark.parametrize(
    ("name", "value"), [("nconnect", "8"), ("rsize", "65536"), ("wsize", "65536")]
)
def test_an_nfs_mount_is_made_anew(nfs: Path, tmp_path: Path, name: str, value: str) -> None:
    (nfs / "mounted").write_text(
        "rw,vers=4.2,rsize=1048576,wsize=1048576,nconnect=1,addr=10.0.0.1\n"
    )
    setting = nfs_setting(f"nfs.{name}", tmp_path)
    assert cycle(setting, value)[1] == value
    options = (nfs / "mounted").read_text().strip().split(",")
    assert sorted(options) == ["nconnect=1", "rsize=1048576", "rw", "vers=4.2", "wsize=1048576"]


def test_a_kill_between_unmount_and_mount(nfs: Path, tmp_path: Path) -> None:
    (nfs / "mounted").write_text("rw,nconnect=4\n")
    setting = nfs_setting("nfs.nconnect", tmp_path)
    (change,) = kinds.prepare_changes({setting: "8"})
    install(nfs.parent, "mount", "kill -9 $PPID")
    with pytest.raises((SettingError, RestoreError)):
        change.apply()
    assert not (nfs / "mounted").exists()
    install(nfs.parent, "mount", MOUNT)
    kinds.rebuild_change(change.kind, json.loads(json.dumps(change.record()))).undo()
    assert (nfs / "mounted").read_text() == "rw,nconnect=4\n"


def test_a_busy_nfs_mount(nfs: Path, tmp_path: Path) -> None:
    (nfs / "mounted").write_text("rw,nconnect=4\n")
    (nfs / "busy").touch()
    with pytest.raises(SettingError, match="target is busy"):
        cycle(nfs_setting("nfs.nconnect", tmp_path), "8")
    assert (nfs / "mounted").read_text() == "rw,nconnect=4\n"


def test_scripts_have_no_errors_of_syntax() -> None:
    shell = shutil.which("sh")
    assert shell
    for name in catalog.names():
        definition = catalog.get(name)
        if isinstance(definition, CommandDefinition):
            for own in definition.commands:
                if own[0] == "sh":
                    subprocess.run([shell, "-n", "-c", own[2]], check=True)
