import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.configuration.assignment import Assignment, Stage
from iostudy.host.configuration.writers import parse_sysctl, parse_tmpfiles, read_udev, read_writers
from iostudy.host.files import Reader
from tests.host.sysfs import add_disk, link, write

SYSCTL = """\
# comment
; another
vm.swappiness=10
-vm/dirty_ratio =  5
net.ipv4.tcp_rmem = 4096 87380   16777216
net/ipv4/conf/eth0.1/rp_filter = 0
no assignment
"""


def test_sysctl_files() -> None:
    assert [(line.first, key, value) for line, key, value in parse_sysctl(SYSCTL)] == [
        (3, "vm.swappiness", "10"),
        (4, "vm.dirty_ratio", "5"),
        (5, "net.ipv4.tcp_rmem", "4096 87380   16777216"),
        (6, "net.ipv4.conf.eth0/1.rp_filter", "0"),
    ]


RULES = """\
# ATTR{queue/scheduler}="commented"
ACTION=="add|change", KERNEL=="sd[a-z]", ATTR{queue/rotational}=="1", \\
  ATTR{queue/scheduler}="bfq", ATTR{queue/iosched/low_latency}:="0"
SUBSYSTEM=="block", ATTR{bdi/read_ahead_kb} = "4096"
KERNEL=="sdb", ATTR{queue/nr_requests}!="64", ENV{ATTR}="x", ATTR{removable}="1"
BUS=="scsi", SYSFS{queue/scheduler}=="noop", ATTR{device/queue_depth}+="31"
"""


def read_rules(text: str) -> list[Assignment]:
    """What rules of this text write."""
    with tempfile.TemporaryDirectory() as root:
        write(Path(root) / "etc/udev/rules.d/60-x.rules", text)
        return list(read_udev(Reader(Path(root))))


def test_udev_rules() -> None:
    found = [(own.first, own.last, own.name, own.value) for own in read_rules(RULES)]
    assert found == [
        (2, 3, "queue/scheduler", "bfq"),
        (2, 3, "queue/iosched/low_latency", "0"),
        (4, 4, "bdi/read_ahead_kb", "4096"),
        (6, 6, "device/queue_depth", "31"),
    ]


TMPFILES = """\
# Type Path Mode User Group Age Argument
w /sys/block/sda/queue/scheduler - - - - none
w+ "/sys/kernel/mm/transparent_hugepage/enabled" - - - - never
w! /proc/sys/vm/swappiness - - - - 1
w /run/motd - - - - hello
d /sys/fs/x 0755 root root -
w /sys/block/sda/queue/scheduler
"""


def test_tmpfiles() -> None:
    assert [(line.first, path, value) for line, path, value in parse_tmpfiles(TMPFILES)] == [
        (2, "/sys/block/sda/queue/scheduler", "none"),
        (3, "/sys/kernel/mm/transparent_hugepage/enabled", "never"),
        (4, "/proc/sys/vm/swappiness", "1"),
    ]


@given(st.text())
def test_arbitrary_text_is_parsed_or_ignored(text: str) -> None:
    for parse in (parse_sysctl, parse_tmpfiles):
        for line, name, _ in parse(text):
            assert 1 <= line.first <= line.last <= text.count("\n") + 1
            assert name
    for rule in read_rules(text):
        assert 1 <= rule.first <= rule.last <= len(text.splitlines()) + 1
        assert rule.path


keys = st.lists(st.from_regex(r"[a-z0-9_]{1,8}", fullmatch=True), min_size=2, max_size=5)


@given(parts=keys, value=st.from_regex(r"[a-z0-9]+( [a-z0-9]+){0,3}", fullmatch=True))
def test_sysctl_names_round_trip_in_both_notations(parts: list[str], value: str) -> None:
    for key in (".".join(parts), "/".join(parts)):
        ((_, found, value_found),) = parse_sysctl(f"{key} = {value}")
        assert (found, value_found) == (".".join(parts), value)


@given(value=st.from_regex(r"[a-z0-9-]+", fullmatch=True), lines=st.integers(0, 3))
def test_udev_values_round_trip_with_continuation_lines(value: str, lines: int) -> None:
    text = 'KERNEL=="sd*", ' + "\\\n" * lines + f'ATTR{{queue/scheduler}}="{value}"\n'
    (rule,) = read_rules(text)
    found = (rule.first, rule.last, rule.name, rule.value)
    assert found == (1, 1 + lines, "queue/scheduler", value)


def test_a_file_in_etc_hides_one_of_the_same_name(tmp_path: Path) -> None:
    write(tmp_path / "usr/lib/sysctl.d/10-a.conf", "vm.swappiness = 60\n")
    write(tmp_path / "etc/sysctl.d/10-a.conf", "vm.swappiness = 1\n")
    write(tmp_path / "run/sysctl.d/05-b.conf", "vm.dirty_ratio = 7\n")
    write(tmp_path / "etc/sysctl.conf", "fs.file-max = 64000\n")
    link(tmp_path / "etc/sysctl.d/99-sysctl.conf", tmp_path / "etc/sysctl.conf")
    found = read_writers(Reader(tmp_path))
    assert [(each.where, each.name, each.value) for each in found] == [
        ("/run/sysctl.d/05-b.conf:1", "vm.dirty_ratio", "7"),
        ("/etc/sysctl.d/10-a.conf:1", "vm.swappiness", "1"),
        ("/etc/sysctl.conf:1", "fs.file-max", "64000"),
    ]


def test_nothing_configured(tmp_path: Path) -> None:
    assert read_writers(Reader(tmp_path)) == ()


RA = "/sys/block/sda/queue/read_ahead_kb"


@pytest.mark.parametrize(
    ("name", "text", "path", "value", "stage"),
    [
        ("x.rules", 'ATTR{bdi/read_ahead_kb}="8"', RA.replace("sda", "*"), "8", Stage.UDEV),
        ("x.rules", 'SUBSYSTEM=="bdi", KERNEL=="8:0", ATTR{read_ahead_kb}="8"', RA, "8",
         Stage.UDEV_PROGRAM),
        ("x.rules", 'PROGRAM="/usr/libexec/nfsrahead %k", ATTR{read_ahead_kb}="%c"',
         RA.replace("sda", "0:*"), "%c", Stage.UDEV_PROGRAM),
        ("x.rules", 'ATTR{[block/sda]queue/read_ahead_kb}="8"', RA, "8", Stage.UDEV),
        ("x.rules", 'SYSCTL{vm/swappiness}="8"', "/proc/sys/vm/swappiness", "8", Stage.UDEV),
        ("x.rules", """RUN+="/bin/sh -c 'echo 8 > /sys%p/queue/read_ahead_kb'\"""",
         RA.replace("sda", "*"), "8", Stage.UDEV_PROGRAM),
        ("x.rules", """PROGRAM="/bin/sh -c 'echo 8 > /sys/block/$kernel/queue/nr_requests'\"""",
         "/sys/block/*/queue/nr_requests", "8", Stage.UDEV),
        ("x.rules", 'RUN{program}+="/sbin/blockdev --setra 16 $devnode"', RA.replace("sda", "*"),
         "8", Stage.UDEV_PROGRAM),
        ("x.rules", 'RUN+="tune %k"', RA.replace("sda", "*"), "8", Stage.UDEV_PROGRAM),
        ("x.conf", f"w! {RA} - - - - 8", RA, "8", Stage.TMPFILES),
        ("x.conf", f"f+ {RA} - - - - 8\\n", RA, "8", Stage.TMPFILES),
        ("x.conf", f"w~ {RA} - - - - OA==", RA, "8", Stage.TMPFILES),
        ("x.conf", f"w^ {RA} - - - - name", RA, "*", Stage.TMPFILES),
        ("x.conf", "w /sys/class/bdi/8:0/read_ahead_kb - - - - 8", RA, "8", Stage.TMPFILES),
        ("x.conf", "w /sys/devices/pci0/x/block/sda/queue/read_ahead_kb - - - - 8", RA, "8",
         Stage.TMPFILES),
        ("x@.service", "[Service]\nExecStart=-/bin/sh -c 'echo 8 > /sys/block/%i/queue/nomerges'",
         "/sys/block/*/queue/nomerges", "8", Stage.SERVICE),
        ("x@.service", "[Service]\nExecStartPre=/usr/lib/udev/tune sda", RA.replace("sda", "*"),
         "8", Stage.SERVICE),
    ],
)  # fmt: skip
def test_writers_share_one_form_of_a_path(
    tmp_path: Path, name: str, text: str, path: str, value: str, stage: Stage
) -> None:
    folders = {"s": "udev/rules.d", "f": "tmpfiles.d", "e": "systemd/system"}
    write(tmp_path / "etc" / folders[name[-1]] / name, f"{text}\n")
    script = "#!/bin/sh\necho 8 > /sys/block/$1/queue/read_ahead_kb\n"
    write(tmp_path / "usr/lib/udev/tune", script)
    add_disk(tmp_path, "sda", "8:0", scheduler=None)
    wants = tmp_path / "etc/systemd/system/default.target.wants"
    wants.mkdir(parents=True)
    (wants / "x@sda.service").symlink_to("../x@.service")
    (found,) = read_writers(Reader(tmp_path))
    assert (found.path, found.value, found.stage) == (path, value, stage)
    assert found.where == (
        "/usr/lib/udev/tune:2" if "tune" in text else f"{found.file}:{found.first}"
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.rules", 'ATTR{queue/nr_requests}=="64", ATTR{size}="1", RUN{builtin}+="kmod load x"'),
        ("x.conf", f"f {RA} - - - - 8"),
        ("x@.service", "[Service]\nExecStop=/bin/sh -c 'echo 8 > /sys/block/sda/queue/nomerges'"),
    ],
)
def test_what_writes_nothing_at_boot(tmp_path: Path, name: str, text: str) -> None:
    folders = {"s": "udev/rules.d", "f": "tmpfiles.d", "e": "systemd/system"}
    write(tmp_path / "etc" / folders[name[-1]] / name, f"{text}\n")
    assert read_writers(Reader(tmp_path)) == ()


def test_writers_are_in_the_order_in_which_they_run(tmp_path: Path) -> None:
    write(tmp_path / "etc/sysfs.conf", "block/sda/queue/read_ahead_kb = 5\n")
    write(tmp_path / "etc/tmpfiles.d/a.conf", f"w {RA} - - - - 4\n")
    rules = 'RUN+="/sbin/blockdev --setra 6 /dev/sda"\nATTR{queue/read_ahead_kb}="2"\n'
    write(tmp_path / "etc/udev/rules.d/a.rules", rules)
    write(tmp_path / "etc/sysctl.d/a.conf", "vm.swappiness = 1\n")
    assert [line.value for line in read_writers(Reader(tmp_path))] == ["1", "2", "3", "4", "5"]


def test_a_word_too_long_for_a_name_is_no_script(tmp_path: Path) -> None:
    write(tmp_path / "etc/udev/rules.d/a.rules", f'RUN+="/{"x" * 300}"\n')
    reader = Reader(tmp_path)
    assert (read_writers(reader), reader.refused) == ((), ())


def test_a_unit_that_nothing_wants_may_still_be_started(tmp_path: Path) -> None:
    text = "[Service]\nExecStart=/bin/sh -c 'echo 8 > /sys/block/sda/queue/nomerges'\n"
    for place in ("etc", "usr/lib"):
        write(tmp_path / place / f"systemd/system/{place[0]}.service", text)
    (found,) = read_writers(Reader(tmp_path))
    assert (found.where, found.stage) == ("/etc/systemd/system/e.service:2", Stage.SERVICE)
    assert "no link" in found.ineffective
