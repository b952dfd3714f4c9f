import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import TargetError
from iostudy.host.advice.facts import FilesystemSpace, is_storage
from iostudy.host.advice.gather import gather_facts, parse_kernel
from iostudy.host.advice.registry import evaluate_rules
from iostudy.host.topology import Topology
from tests.host import recorded
from tests.host.sysfs import write


@pytest.mark.parametrize(
    ("release", "kernel"),
    [
        ("2.6.32-642.el6.x86_64", (2, 6)),
        ("3.10.0-1160.el7.x86_64", (3, 10)),
        ("6.18.44-fc-v669", (6, 18)),
        ("6.10", (6, 10)),
        ("strange", (0, 0)),
    ],
)
def test_kernels(release: str, kernel: tuple[int, int]) -> None:
    assert parse_kernel(release) == kernel


@pytest.mark.parametrize(
    ("text", "choice"), [("always [madvise] never\n", "madvise"), ("[never]\n", "never")]
)
def test_huge_pages(tmp_path: Path, text: str, choice: str) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "sys/kernel/mm/transparent_hugepage/defrag", text)
    host = gather_facts(root=root, statvfs=lambda _: recorded.room()).host
    assert host.thp_defrag == choice


def test_a_kernel_without_huge_pages(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    shutil.rmtree(root / "sys/kernel/mm/transparent_hugepage", ignore_errors=True)
    host = gather_facts(root=root, statvfs=lambda _: recorded.room()).host
    assert host.thp_enabled == host.thp_defrag == ""


@given(st.text())
def test_arbitrary_text_is_parsed_without_error(text: str) -> None:
    parse_kernel(text)


def test_sysctls_are_read_with_their_names(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "proc/sys/net/ipv4/tcp_rmem", "4096\t87380\t16777216\n")
    write(root / "etc/sysctl.conf", "net.ipv4.tcp_rmem = 1 2 3\n/etc/passwd = 1\nvm.gone = 1\n")
    facts = gather_facts(root=root, statvfs=lambda _: recorded.room())
    assert facts.host.sysctls == {"net.ipv4.tcp_rmem": "4096 87380 16777216"}
    assert facts.host.sysctl("net.ipv4.tcp_rmem") is None
    assert is_storage("vm.swappiness")
    assert not is_storage("kernel.sysrq")


def test_free_space_agrees_with_df() -> None:
    space = FilesystemSpace(
        1000, free_bytes=150, available_bytes=100, inodes=0, free_inodes=0, block_bytes=4096
    )
    assert space.used == 850 / 950
    assert space.used_inodes == 0.0
    assert FilesystemSpace(0, 0, 0, 0, 0, 4096).used == 0.0


def test_network_file_systems_are_not_queried_for_space(tmp_path: Path) -> None:
    calls = []

    def statvfs(point: Path):
        calls.append(str(point))
        return recorded.room()

    gather_facts(root=recorded.old_hadoop_node(tmp_path), statvfs=statvfs)
    assert calls == ["/", "/boot", "/data/1"]


@pytest.mark.parametrize("place", ["no-such-disk", "/no/such/place"])
def test_missing_place_is_an_error(place: str) -> None:
    with pytest.raises(TargetError):
        gather_facts(place)


def test_rules_run_on_this_host() -> None:
    facts = gather_facts("/")
    assert facts.target is not None
    assert all(finding.command for finding in evaluate_rules(facts))


def test_study_is_written_for_the_given_place(tmp_path: Path) -> None:
    facts = gather_facts(root=recorded.lvm_on_md(tmp_path), statvfs=lambda _: recorded.room())
    places = {place.mount.point: place for place in facts.topology.places}
    assert facts.place_to_measure == places[Path("/")]
    requested = replace(facts, target=places[Path("/home")])
    assert requested.place_to_measure == places[Path("/home")]
    assert replace(facts, topology=Topology((), ())).place_to_measure is None


def test_tmpfs_is_reported_as_memory() -> None:
    if not Path("/dev/shm").is_mount():
        pytest.skip("no tmpfs on /dev/shm")
    facts = gather_facts("/dev/shm")
    assert [finding.id for finding in evaluate_rules(facts) if finding.id.startswith("target")] == [
        "target-in-memory"
    ]
    assert facts.devices == ()
