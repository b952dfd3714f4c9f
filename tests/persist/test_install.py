from __future__ import annotations

import errno
import os
import signal
import stat
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from iostudy.cli.signals import EndedBySignal
from iostudy.errors import BusyError, SettingError, UsageError
from iostudy.persist import fstab, install, sysctl, udev
from iostudy.persist.install import TargetHost
from iostudy.persist.plan import Activation, Artifact, Conflict, Expected, PersistencePlan
from iostudy.persist.request import PersistedSetting, PersistRequest
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.transaction.deferred_signals import run_or_defer
from iostudy.settings.transaction.locks import lock_devices
from tests.persist import private
from tests.persist.trees import write

SWAPPINESS = PersistedSetting("sysctl.vm.swappiness", "10")
REQUESTED = PersistRequest("x", ())
FSTAB = "none /proc proc relatime 0 0\n"
NOATIME = PersistedSetting("mount.atime", "noatime", mount_point=Path("/proc"))


@dataclass
class Tools:
    """Runs nothing but what checks files; what is named in ``refused`` ends with an error."""

    refused: tuple[str, ...] = ()
    called: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(self, *command: str) -> str:
        self.called.append(command)
        if command[0] in self.refused:
            raise CommandError(f"{command[0]}: no")
        return commands.run(*command) if command[0] == "findmnt" else ""


@pytest.fixture(autouse=True)
def _as_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)


@pytest.fixture
def root(tmp_path):
    return write(tmp_path, {"proc/sys/vm/swappiness": "10\n", "etc/fstab": FSTAB})


@pytest.fixture
def host(root):
    return TargetHost(root, Tools())


def planned(root: Path) -> PersistencePlan:
    return sysctl.plan([SWAPPINESS], REQUESTED, root) + fstab.plan([NOATIME], root)


def files(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): path.read_text()
        for path in sorted((root / "etc").rglob("*"))
        if path.is_file()
    }


@pytest.mark.child
def test_files_are_written_activated_and_reported(root, host):
    installed = install.install(planned(root), host)
    found = files(root)
    assert found.pop("etc/fstab") == FSTAB.replace("relatime", "noatime")
    assert "vm.swappiness = 10" in found.pop("etc/sysctl.d/90-iostudy.conf")
    ((backup, text),) = found.items()
    assert text == FSTAB
    assert backup.startswith("etc/fstab.iostudy-20")
    assert ("sysctl", "--load=/etc/sysctl.d/90-iostudy.conf") in host.run.called
    assert installed == (
        "written: /etc/sysctl.d/90-iostudy.conf; to undo, remove it",
        f"written: /etc/fstab; to undo, rename {root / backup} to {root}/etc/fstab",
        "done: sysctl --load=/etc/sysctl.d/90-iostudy.conf",
    )


@pytest.mark.child
def test_second_installation_changes_nothing(root, host):
    install.install(planned(root), host)
    before = files(root)
    calls = len(host.run.called)
    assert install.install(planned(root), host) == (
        "nothing to do: all settings are already configured",
    )
    assert files(root) == before
    assert len(host.run.called) == calls


@pytest.mark.child
def test_lost_value_is_activated_again(root, host):
    install.install(planned(root), host)
    (root / "proc/sys/vm/swappiness").write_text("60\n")
    before = files(root)

    def load(*command: str) -> str:
        if command[0] == "sysctl":
            (root / "proc/sys/vm/swappiness").write_text("10\n")
        return ""

    installed = install.install(planned(root), TargetHost(root, load))
    assert installed == ("done: sysctl --load=/etc/sysctl.d/90-iostudy.conf",)
    assert files(root) == before


@pytest.mark.child
def test_mode_and_owner_of_an_edited_file_stay(root, host):
    (root / "etc/fstab").chmod(0o640)
    install.install(planned(root), host)
    assert stat.S_IMODE((root / "etc/fstab").stat().st_mode) == 0o640
    (backup,) = (root / "etc").glob("fstab.iostudy-*")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o640
    assert stat.S_IMODE((root / "etc/sysctl.d/90-iostudy.conf").stat().st_mode) == 0o644


@pytest.mark.child
def test_replaced_symbolic_link_remains_a_link(root, host):
    (root / "etc/fstab").rename(root / "etc/real")
    (root / "etc/fstab").symlink_to("real")
    install.install(planned(root), host)
    assert (root / "etc/fstab").is_symlink()
    assert (root / "etc/real").read_text() == FSTAB.replace("relatime", "noatime")


@pytest.mark.child
def test_second_choice_replaces_the_file_and_keeps_a_backup(root, host):
    install.install(planned(root), host)
    old = (root / "etc/sysctl.d/90-iostudy.conf").read_text()
    (root / "proc/sys/vm/swappiness").write_text("20\n")
    install.install(sysctl.plan([replace(SWAPPINESS, value="20")], REQUESTED, root), host)
    (backup,) = (root / "etc/sysctl.d").glob("90-iostudy.conf.iostudy-*")
    assert backup.read_text() == old


def test_conflict_is_refused_before_any_write(root, host):
    clash = Conflict("vm.swappiness", "/etc/sysctl.d/99-x.conf:3", "vm.swappiness=60", "remove it")
    before = files(root)
    with pytest.raises(UsageError, match=r"99-x.conf:3 says vm.swappiness=60; remove it"):
        install.install(planned(root) + PersistencePlan(conflicts=(clash,)), host)
    assert files(root) == before


def test_without_root_nothing_is_written(root, host, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match="not root"):
        install.install(planned(root), host)
    assert files(root) == {"etc/fstab": FSTAB}


def test_a_file_of_somebody_else_under_that_name_is_refused(root, host):
    write(root, {"etc/sysctl.d/90-iostudy.conf": "vm.swappiness = 1\n"})
    with pytest.raises(UsageError, match="not iostudy's"):
        install.install(planned(root), host)


def test_a_masked_file_is_refused(root, host):
    """As systemd documents it; /dev/null itself would become a regular file."""
    masked = root / "etc/sysctl.d/90-iostudy.conf"
    masked.parent.mkdir()
    null = root / "null"
    os.mkfifo(null)
    masked.symlink_to(null)
    with pytest.raises(UsageError, match=r"null, which is no regular file"):
        install.install(planned(root), host)
    assert null.is_fifo()
    assert files(root) == {"etc/fstab": FSTAB}
    masked.unlink()
    masked.mkdir()
    with pytest.raises(UsageError, match=r"90-iostudy.conf, which is no regular file"):
        install.install(planned(root), host)


@pytest.mark.child
def test_fstab_is_verified_by_findmnt(root, host):
    broken = Artifact(fstab.FILE, FSTAB, "none /proc\nx y z 1 a b c\n")
    with pytest.raises(UsageError, match="parse error"):
        install.install(PersistencePlan(artifacts=(broken,)), host)
    assert files(root) == {"etc/fstab": FSTAB}


@pytest.mark.child
def test_existing_findmnt_errors_do_not_block(root, host):
    text = FSTAB + "x y\n"
    write(root, {"etc/fstab": text})
    install.install(fstab.plan([NOATIME], root), host)
    assert (root / "etc/fstab").read_text() == text.replace("relatime", "noatime")


def test_an_edit_since_the_plan_is_not_overwritten(root, host):
    for name in ("etc/fstab", "etc/sysctl.d/90-iostudy.conf"):
        plan, before = planned(root), files(root)

        def edit(*command: str, edited: str = name) -> str:
            if command[0] == "findmnt":
                write(root, {edited: "# theirs\n"})
            return ""

        with pytest.raises(UsageError, match=f"/{name}\n.*\n.*changed since it was read"):
            install.install(plan, TargetHost(root, edit))
        assert files(root) == {**before, name: "# theirs\n"}
        write(root, {"etc/fstab": FSTAB})


def test_rules_are_verified_where_udevadm_can(root, host):
    host.run.refused = ("udevadm",)
    rules = PersistencePlan(artifacts=(Artifact(udev.FILE, None, "x"),))
    install.install(rules, host)
    assert host.run.called == [("udevadm", "verify", "--help")]
    (root / "etc/udev/rules.d/99-iostudy.rules").unlink()

    def complain(*command: str) -> str:
        if "--help" in command:
            return ""
        raise CommandError(f"{command[-1]}:1 Invalid key")

    with pytest.raises(UsageError, match=r"refuses it: /etc/udev/rules.d/99-iostudy.rules:1 Inv"):
        install.install(rules, TargetHost(root, complain))


@pytest.mark.child
def test_refusal_by_a_tool_restores_all_files(root, host):
    host.run.refused = ("sysctl",)
    with pytest.raises(SettingError, match="all files are restored"):
        install.install(planned(root), host)
    found = files(root)
    assert found.pop("etc/fstab") == FSTAB
    assert all(".iostudy-" in name for name in found)


def test_a_signal_during_an_activation_restores_all_files(root):
    def end(*command: str) -> str:
        if command[0] == "sysctl":
            raise EndedBySignal(signal.SIGINT)
        return ""

    with pytest.raises(EndedBySignal):
        install.install(planned(root), TargetHost(root, end))
    found = files(root)
    assert found.pop("etc/fstab") == FSTAB
    assert all(".iostudy-" in name for name in found)


def test_a_signal_between_two_files_waits_and_restores_both(root, monkeypatch):
    write_whole, written = install.write_whole, []

    def end() -> None:
        raise EndedBySignal(signal.SIGTERM)

    def write_file(path: Path, content: bytes, like: Path | None = None) -> None:
        write_whole(path, content, like)
        written.append(path.name)
        run_or_defer(end)

    monkeypatch.setattr(install, "write_whole", write_file)
    with pytest.raises(EndedBySignal):
        install.install(planned(root), TargetHost(root, lambda *command: ""))
    assert (written[0], written[-1]) == ("90-iostudy.conf", "fstab")
    found = files(root)
    assert found.pop("etc/fstab") == FSTAB
    assert all(".iostudy-" in name for name in found)


def test_a_file_that_stays_after_a_signal_is_named(root):
    def end(*command: str) -> str:
        if command[0] == "sysctl":
            for backup in (root / "etc").glob("fstab.iostudy-*"):
                backup.unlink()
            raise EndedBySignal(signal.SIGINT)
        return ""

    with pytest.raises(SettingError, match=r"SIGINT\n.*not restored: /etc/fstab \(No such.*rename"):
        install.install(planned(root), TargetHost(root, end))


@pytest.mark.child
def test_write_failure_restores_the_other_files(root, host):
    (root / "etc/blocked").write_text("")
    blocked = Artifact(Path("/etc/blocked/x"), None, "x")
    with pytest.raises(SettingError, match="to write /etc/blocked/x"):
        install.install(planned(root) + PersistencePlan(artifacts=(blocked,)), host)
    assert (root / "etc/fstab").read_text() == FSTAB
    assert not (root / "etc/sysctl.d/90-iostudy.conf").exists()


def fill_disk(monkeypatch: pytest.MonkeyPatch, name: str, lost: Path | None = None) -> None:
    """Writes fail without space from the file ``name`` on; backups in ``lost`` are deleted then."""
    write_whole, full = install.write_whole, []

    def write_file(path: Path, content: bytes, like: Path | None = None) -> None:
        if path.name == name or full:
            full.append(path)
            for backup in lost.glob("*.iostudy-*") if lost else ():
                backup.unlink()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write_whole(path, content, like)

    monkeypatch.setattr(install, "write_whole", write_file)


EDITED = PersistencePlan(artifacts=(Artifact(fstab.FILE, FSTAB, FSTAB.replace("rel", "no")),))


@pytest.mark.child
def test_a_full_disk_leaves_everything_as_it_was(root, host, monkeypatch):
    fill_disk(monkeypatch, "90-iostudy.conf")
    with pytest.raises(SettingError, match=r"No space left on device\n.*all files are restored"):
        install.install(EDITED + sysctl.plan([SWAPPINESS], REQUESTED, root), host)
    assert files(root) == {"etc/fstab": FSTAB}


@pytest.mark.child
def test_what_is_not_restored_is_named_and_the_others_are(root, host, monkeypatch):
    fill_disk(monkeypatch, "last", lost=root / "etc")
    last = PersistencePlan(artifacts=(Artifact(Path("/etc/last"), None, "x"),))
    plan = EDITED + sysctl.plan([SWAPPINESS], REQUESTED, root) + last
    with pytest.raises(SettingError, match=r"not restored: /etc/fstab \(No such.*rename"):
        install.install(plan, host)
    assert files(root) == {"etc/fstab": FSTAB.replace("rel", "no")}


@pytest.mark.child
def test_values_are_read_back_from_the_kernel(root, host):
    (root / "proc/sys/vm/swappiness").write_text("60\n")
    with pytest.raises(SettingError, match="/proc/sys/vm/swappiness is 60"):
        install.install(planned(root), host)


def test_bracketed_value_is_the_active_one(root, host):
    path = Path("/sys/scheduler")
    write(root, {"sys/scheduler": "none [bfq]\n"})
    file = Artifact(Path("/etc/x"), None, "x", (), (Expected(path, "bfq"),))
    install.install(PersistencePlan(artifacts=(file,)), host)
    wrong = replace(file, path=Path("/etc/y"), expected=(Expected(path, "none"),))
    with pytest.raises(SettingError, match=r"is none \[bfq\]"):
        install.install(PersistencePlan(artifacts=(wrong,)), host)


def test_without_the_daemon_files_apply_at_the_next_start(root, host):
    active = Activation(("udevadm", "trigger"), Path("/run/udev/control"), "later")
    installed = install.install(
        PersistencePlan(artifacts=(Artifact(Path("/etc/x"), None, "x", (active, active)),)), host
    )
    assert installed[1:] == ("later",)
    assert host.run.called == []


@pytest.mark.root
def test_disk_under_study_is_left_alone(root, host, loop):
    rendered = replace(planned(root), places=(loop,))
    with lock_devices(loop), pytest.raises(BusyError):
        install.install(rendered, host)
    assert files(root) == {"etc/fstab": FSTAB}


FOR_REAL = """
import sys
from pathlib import Path
from iostudy.persist import fstab, install, sysctl
from iostudy.persist.request import PersistedSetting, PersistRequest
point, expire = Path(sys.argv[1]), PersistedSetting("sysctl.vm.dirty_expire_centisecs", sys.argv[2])
for _ in range(2):
    planned = fstab.plan([PersistedSetting("mount.atime", "noatime", mount_point=point)])
    planned += sysctl.plan([expire], PersistRequest("x", (expire,)), Path("/"))
    print(*install.install(planned), sep="\\n")
"""


@pytest.mark.root
@pytest.mark.exclusive("host")
def test_real_tools_accept_the_file_and_the_mount_changes(tmp_path):
    """findmnt, mount and sysctl themselves; the sysctl gets the value that it has."""
    etc = private.copy_etc(tmp_path)
    data = tmp_path / "my data"
    data.mkdir()
    field = fstab.escape(str(data))
    (etc / "fstab").write_text(f"none {field} tmpfs relatime,size=1m 0 0\n")
    expire = Path("/proc/sys/vm/dirty_expire_centisecs").read_text().strip()
    script = """
        mount "$1"
        "$3" -c "$4" "$1" "$2"
        findmnt --noheadings --output OPTIONS "$1"
    """
    arguments = (str(data), expire, sys.executable, FOR_REAL)
    done = private.run(tmp_path, "sh", "-euc", script, "sh", *arguments, env=os.environ)
    assert done.returncode == 0, done.stdout
    assert f"done: mount -o remount {data}" in done.stdout
    assert "done: sysctl --load=/etc/sysctl.d/90-iostudy.conf" in done.stdout
    assert "nothing to do: all settings are already configured" in done.stdout
    assert "noatime" in done.stdout.splitlines()[-1]
    assert (etc / "fstab").read_text() == f"none {field} tmpfs noatime,size=1m 0 0\n"
    assert not data.is_mount()
