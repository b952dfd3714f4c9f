"""The role as Ansible itself sees it: linted, and run twice against a copy of /etc."""

from __future__ import annotations

import os
import re
import shutil
import stat
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from iostudy.errors import UsageError
from iostudy.host.devices import parse_scheduler
from iostudy.persist.ansible import ROLE
from iostudy.persist.formats import Format, plan
from iostudy.persist.request import InventoryDisk, PersistedSetting, PersistRequest
from tests.persist import private
from tests.persist.trees import write

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")
DIRTY_EXPIRE = Path("/proc/sys/vm/dirty_expire_centisecs")

TRIGGER = (
    "udevadm trigger --action=change --settle --subsystem-match=block --property-match=DEVTYPE=disk"
)

needs_ansible = pytest.mark.skipif(
    shutil.which("ansible-lint") is None, reason="needs ansible-lint"
)


def fstab(root: Path, options: str) -> str:
    """The table with a mount point that is there, so that findmnt has nothing against it."""
    point = str(root / "my data").replace(" ", "\\040")
    return f"# by hand\ntmpfs\t{point}  tmpfs {options} 0 2\nnone /proc proc\n"


def kept(root: Path) -> tuple[PersistedSetting, ...]:
    """Every kind of file, with the values that this host has already."""
    disk = InventoryDisk("sda", wwid="naa.5002538e40a2b3c4", model="SAMSUNG")
    as_found = (
        [PersistedSetting("thp.enabled", parse_scheduler(THP.read_text()).current)]
        if THP.exists()
        else []
    )
    return (
        PersistedSetting("block.scheduler", "mq-deadline", disk),
        PersistedSetting("block.write_cache", "write back", disk),
        PersistedSetting("sysctl.vm.dirty_expire_centisecs", DIRTY_EXPIRE.read_text().strip()),
        PersistedSetting("mount.atime", "noatime", mount_point=root / "my data"),
        PersistedSetting("mount.commit", "30", mount_point=root / "my data"),
        PersistedSetting("limit.nofile_soft", "10000"),
        *as_found,
    )


def role(root: Path, **choice) -> dict[str, str]:
    """The files of the role by their names."""
    origin = "configuration mq-deadline, commit=30 of the study r1"
    request = PersistRequest(
        origin, kept(root), provenance=("UNPROVEN: it was not shown.",), **choice
    )
    files = plan(request, Format.ANSIBLE, root).artifacts
    return {str(file.path.relative_to(ROLE)): file.after for file in files}


def write_play(root: Path, **choice) -> None:
    """A playbook with the role, as its README has it."""
    write(root, {f"roles/iostudy/{name}": text for name, text in role(root, **choice).items()})
    (book,) = re.findall(r"```yaml\n(.*?)```", role(root)["README.md"], re.DOTALL)
    (root / "keep.yml").write_text(f"---\n{book.replace('hosts: storage', 'hosts: all')}")


@pytest.fixture
def root(tmp_path):
    etc = private.copy_etc(tmp_path)
    (tmp_path / "my data").mkdir()
    (etc / "fstab").write_text(fstab(tmp_path, "defaults,relatime"))
    return tmp_path


@pytest.mark.root
@needs_ansible
def test_ansible_lint_accepts_the_role(root):
    write_play(root)
    lint = ("ansible-lint", "--offline", "--profile", "production", "--strict", "--nocolor")
    env = {**os.environ, "HOME": str(root)}
    done = private.run(root, *lint, "keep.yml", env=env, cwd=root)
    assert done.returncode == 0, done.stdout
    assert "Passed with production profile: 0 failure(s), 0 warning(s)" in done.stdout


@pytest.mark.root
@needs_ansible
def test_a_second_run_changes_nothing(root):
    write_play(root)
    env = {
        **os.environ,
        "PATH": f"{_recorder(root, 'udevadm', 'mount')}:{os.environ['PATH']}",
        "HOME": str(root),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
    }
    command = ("ansible-playbook", "-i", "localhost,", "-c", "local", "-u", "root", "keep.yml")
    first = private.run(root, *command, env=env, cwd=root)
    assert first.returncode == 0, first.stdout
    etc = root / "etc"
    assert (etc / "fstab").read_text() == fstab(root, "defaults,noatime,commit=30")
    assert fstab(root, "defaults,relatime") in [f.read_text() for f in etc.glob("fstab.*")]
    assert (etc / "security/limits.d/90-iostudy.conf").read_text().endswith("nofile 10000\n")
    assert (
        'ATTR{queue/write_cache}="write back"'
        in (etc / "udev/rules.d/99-iostudy.rules").read_text()
    )
    assert (root / "calls").read_text().splitlines() == [
        "udevadm control --reload",
        f"{TRIGGER} --attr-match=wwid=naa.5002538e40a2b3c4",
        f"{TRIGGER} --attr-match=device/wwid=naa.5002538e40a2b3c4",
        f"mount -o remount {root}/my data",
    ]
    second = private.run(root, *command, env=env, cwd=root)
    assert second.returncode == 0, second.stdout
    assert "changed=0" in second.stdout, second.stdout


@pytest.mark.root
@needs_ansible
def test_every_handler_runs_and_a_failure_is_reported(root):
    """A failed udevadm must not keep the sysctls from being loaded."""
    write_play(root)
    folder = _recorder(root, "mount", "sysctl")
    (folder / "udevadm").write_text("#!/bin/sh\necho no udev here >&2\nexit 1\n")
    (folder / "udevadm").chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "HOME": str(root),
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
    }
    command = ("ansible-playbook", "-i", "localhost,", "-c", "local", "-u", "root", "keep.yml")
    done = private.run(root, *command, env=env, cwd=root)
    assert done.returncode == 2, done.stdout
    assert "udevadm control --reload: no udev here" in done.stdout
    assert (root / "calls").read_text().splitlines() == [
        "sysctl --load=/etc/sysctl.d/90-iostudy.conf",
        f"mount -o remount {root}/my data",
    ]


def _recorder(root: Path, *names: str) -> Path:
    """Commands that only write down how they were called."""
    folder = root / "bin"
    folder.mkdir()
    for name in names:
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >> {root}/calls\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def test_a_mount_point_that_is_not_in_utf_8_is_refused(tmp_path):
    write(tmp_path, {"etc/fstab": ""})
    (tmp_path / "etc/fstab").write_bytes(b"/dev/sda /mnt/\xff ext4 defaults 0 0\n")
    setting = PersistedSetting(
        "mount.atime", "noatime", mount_point=Path(os.fsdecode(b"/mnt/\xff"))
    )
    with pytest.raises(UsageError, match="UTF-8"):
        plan(PersistRequest("x", (setting,)), Format.ANSIBLE, tmp_path)


def test_jinja_expressions_are_refused(tmp_path):
    choice = PersistRequest(
        "x", (PersistedSetting("sysctl.kernel.core_pattern", "{{ lookup('pipe', 'id') }}"),)
    )
    with pytest.raises(UsageError, match="would expand"):
        plan(choice, Format.ANSIBLE, tmp_path)


@pytest.mark.parametrize(
    ("there", "after"),
    [
        ("defaults", "defaults,noatime,commit=30"),
        ("relatime", "noatime,commit=30"),
        ("commit=5,nodev,strictatime", "commit=30,nodev,noatime"),
        ("noatime,commit=30", "noatime,commit=30"),
        ("commit=300,noatimes,uquota", "commit=30,noatimes,uquota,noatime"),
    ],
)
def test_options_of_other_hosts_are_kept(tmp_path, there, after):
    """As ansible.builtin.replace does it: re.sub with MULTILINE."""
    write(tmp_path, {"etc/fstab": fstab(tmp_path, "errors=remount-ro,relatime")})
    loaded = YAML(typ="safe").load(role(tmp_path)["tasks/main.yml"])
    tasks = [task.get("ansible.builtin.replace") for task in loaded]
    edits = [(re.compile(t["regexp"], re.MULTILINE), t["replace"]) for t in tasks if t]
    text = fstab(tmp_path, there)
    for _ in range(2):
        for pattern, replacement in edits:
            text = pattern.sub(replacement, text)
        assert text == fstab(tmp_path, after)
