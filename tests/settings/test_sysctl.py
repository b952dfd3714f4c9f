"""Sysctls without touching the host's: keys, values, what is refused, and the pairs."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.errors import OutOfReachError, RestoreError, SettingError, TargetError
from iostudy.host import namespaces
from iostudy.settings import catalog, kinds, sysctl_keys
from iostudy.settings.change import Change, ConflictPolicy, Setting
from iostudy.settings.definitions.sysctl import DEFINITIONS, SysctlDefinition
from iostudy.settings.kinds import host_files, sysctl
from tests.settings.sysctl_kernel import PAIRS, Kernel, SimulatedKill

NAMES = st.text("abcz-_.", min_size=1, max_size=40).filter(lambda name: name not in (".", ".."))
FORMS = [
    ("vm.dirty_ratio", "vm/dirty_ratio", "vm.dirty_ratio"),
    ("vm/dirty_ratio", "vm/dirty_ratio", "vm.dirty_ratio"),
    ("net.ipv4.conf.eth0/100.mtu", "net/ipv4/conf/eth0.100/mtu", "net.ipv4.conf.eth0/100.mtu"),
    ("net/ipv4/conf/eth0.100/mtu", "net/ipv4/conf/eth0.100/mtu", "net.ipv4.conf.eth0/100.mtu"),
]
NO_KEYS = [
    "",
    "vm",
    ".",
    "vm.",
    ".vm.a",
    "vm..a",
    "vm/../a",
    "vm/./a",
    "vm/a\n",
    "vm/a\0",
    "vm/a b",
]


@pytest.mark.parametrize(("written", "path", "key"), FORMS)
def test_a_key_in_each_notation(written: str, path: str, key: str) -> None:
    assert sysctl_keys.key_path(written) == path
    assert sysctl_keys.path_key(path) == key
    assert catalog.get(f"sysctl.{written}").name == f"sysctl.{key}"


@given(st.sampled_from(["vm", "net", "a-b"]), st.lists(NAMES, min_size=1, max_size=5))
def test_every_path_has_a_key_that_leads_to_it(first: str, parts: list[str]) -> None:
    path = "/".join([first, *parts])
    assert sysctl_keys.key_path(sysctl_keys.path_key(path)) == path


@given(st.text())
def test_no_key_leaves_the_folder(text: str) -> None:
    try:
        path = sysctl_keys.key_path(text)
    except ValueError:
        return
    assert not {"", ".", ".."} & set(path.split("/"))
    assert path.isprintable()
    assert len(path.encode()) <= 255


def test_no_key_is_longer_than_a_file_name() -> None:
    for key in ("vm." + 5000 * "a", "vm" + 2500 * ".a"):
        with pytest.raises(KeyError):
            catalog.get(f"sysctl.{key}")


@pytest.mark.parametrize("key", NO_KEYS)
def test_invalid_keys_are_refused(key: str) -> None:
    with pytest.raises(KeyError):
        catalog.get(f"sysctl.{key}")


def test_other_names_are_no_sysctls() -> None:
    with pytest.raises(KeyError):
        catalog.get("dirty_ratio")
    with pytest.raises(KeyError):
        catalog.get("block.schedular")


def test_a_sysctl_is_a_setting_by_its_key() -> None:
    assert catalog.get("vm.dirty_ratio") is catalog.get("sysctl.vm.dirty_ratio")


def test_a_key_without_description_is_made_on_demand() -> None:
    definition = catalog.get("sysctl.kernel.core_pattern")
    assert definition == catalog.get("sysctl.kernel/core_pattern")
    assert isinstance(definition, SysctlDefinition)
    assert definition.undocumented
    assert definition.parse(" 4096\t87380  16777216\n") == "4096 87380 16777216"
    assert definition.parse("|/bin/a  %p") == "|/bin/a  %p"
    with pytest.raises(ValueError, match="not a line"):
        definition.parse("1\n2 x")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fs.file-max", "1"),
        ("kernel.pid_max", "301"),
        ("net.ipv4.tcp_rmem", "1 1 1"),
        ("net.core.netdev_max_backlog", "0"),
        ("vm.min_free_kbytes", "99999999"),
        ("vm.overcommit_memory", "2"),
        ("vm.panic_on_oom", "1"),
        ("vm.vfs_cache_pressure", "0"),
    ],
)
def test_a_value_that_cripples_a_host_is_refused(key: str, value: str) -> None:
    definition = catalog.get(f"sysctl.{key}")
    assert definition.parse("as-found") == "as-found"
    with pytest.raises(ValueError, match="out of range"):
        definition.parse(value)


@given(st.lists(st.integers(), min_size=1), st.sampled_from([" ", "\t", " \t "]))
def test_numbers_are_read_with_one_blank_between_them(numbers: list[int], blank: str) -> None:
    assert sysctl_keys.normalise_blanks(blank.join(map(str, numbers))) == " ".join(
        map(str, numbers)
    )


@given(st.text("ab% \t", min_size=1).filter(lambda text: not text.isspace()))
def test_other_text_is_read_as_it_is(text: str) -> None:
    assert sysctl_keys.normalise_blanks(text) == text


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("net.ipv4.tcp_rmem", "4096\t87380\t16777216", "4096 87380 16777216"),
        ("fs.file-max", "9223372036854775807", "9223372036854775807"),
        ("vm.swappiness", "010", "10"),
        ("vm.dirty_bytes", "64MiB", "67108864"),
        ("vm.dirty_background_bytes", "67108864", "67108864"),
        ("net.core.rmem_max", "2 MB", "2000000"),
        ("net.ipv4.tcp_rmem", "4KiB 87380 16MiB", "4096 87380 16777216"),
    ],
)
def test_values(name: str, text: str, value: str) -> None:
    assert catalog.get(f"sysctl.{name}").parse(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("net.ipv4.tcp_rmem", "4096 87380"),
        ("vm.dirty_ratio", "0"),
        ("vm.dirty_ratio", "101"),
        ("vm.dirty_bytes", "0"),
        ("vm.dirty_bytes", "4KiB"),
        ("net.core.rmem_max", "2GiB"),
        ("vm.swappiness", "-1"),
    ],
)
def test_no_values(name: str, text: str) -> None:
    with pytest.raises(ValueError, match="allowed"):
        catalog.get(f"sysctl.{name}").parse(text)


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree that stands for /proc/sys; values in it must keep their length."""
    monkeypatch.setattr(sysctl, "ROOT", tmp_path)
    return tmp_path / "proc/sys"


def put(proc: Path, key: str, text: str, mode: int = 0o644) -> Path:
    path = proc / sysctl_keys.key_path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def bound(key: str) -> Setting:
    (setting,) = kinds.bind(f"sysctl.{key}", ".")
    return setting


def change(**values: str) -> Change:
    """Keys with ``__`` for the dots."""
    (made,) = kinds.prepare_changes(
        {bound(k.replace("__", ".")): value for k, value in values.items()}
    )
    return made


def test_a_dot_in_a_name_of_the_path(proc: Path) -> None:
    put(proc, "net/ipv4/conf/eth0.100/rp_filter", "1\n")
    assert bound("net.ipv4.conf.eth0/100.rp_filter").read() == "1"


def test_a_key_that_was_renamed(proc: Path) -> None:
    with pytest.raises(TargetError, match="this kernel has none") as caught:
        bound("fs.epoll.max_user_instances")
    assert "use fs.epoll.max_user_watches" in caught.value.remedy


@pytest.mark.parametrize(
    "key",
    [
        "vm.drop_caches",
        "kernel.modules_disabled",
        "kernel.kexec_load_limit_reboot",
        "kernel.yama.ptrace_scope",
        "kernel.sem_next_id",
        "net.ipv4.ip_forward",
        "net.ipv6.conf.all.addr_gen_mode",
        "net.ipv6.conf.all.ignore_routes_with_linkdown",
        "net/ipv6/route/flush",
        "net/ipv6/conf/eth0.1/disable_ipv6",
    ],
)
def test_irreversible_keys_are_refused(proc: Path, key: str) -> None:
    path = put(proc, key, "0\n")
    with pytest.raises(SettingError, match="iostudy could not restore it"):
        kinds.prepare_changes({bound(key): "1"})
    assert path.read_text() == "0\n"


@pytest.mark.parametrize("mode", [0o200, 0o444])
def test_a_key_without_read_and_write_permission_is_refused(proc: Path, mode: int) -> None:
    put(proc, "kernel.some", "0\n", mode)
    with pytest.raises(SettingError, match="cannot be both read and written"):
        kinds.prepare_changes({bound("kernel.some"): "1"})


@pytest.mark.parametrize(
    ("key", "counter"), [("fs.file-max", "file-nr"), ("fs.aio-max-nr", "aio-nr")]
)
def test_a_limit_must_leave_room_for_what_is_open(proc: Path, key: str, counter: str) -> None:
    put(proc, key, "9000\n")
    put(proc, f"fs/{counter}", "3000\t0\t9000\n")
    with pytest.raises(SettingError, match="3000 are in use now") as caught:
        kinds.prepare_changes({bound(key): "5999"})
    assert caught.value.remedy == "choose 6000 or more"
    assert kinds.prepare_changes({bound(key): "6000"})
    put(proc, key, "4000\n")
    assert kinds.prepare_changes({bound(key): "5000"}), "what is raised is no worse than before"


def test_both_forms_of_one_number_at_once(proc: Path) -> None:
    for key in ("dirty_ratio", "dirty_bytes"):
        put(proc, f"vm.{key}", "20\n")
    with pytest.raises(SettingError, match="one number in two forms"):
        change(vm__dirty_ratio="10", vm__dirty_bytes="8192")


def test_a_kernel_that_does_not_take_its_own_value_back(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def picky(path: Path, text: str) -> None:
        if text == "enabled\n":
            raise OSError(22, "Invalid argument")
        path.write_text(text)

    path = put(proc, "kernel.picky", "enabled\n")
    monkeypatch.setattr(host_files, "write_attribute", picky)
    with pytest.raises(SettingError, match=r"a way back for kernel\.picky") as caught:
        change(kernel__picky="0").apply()
    assert "'enabled'" in caught.value.found
    assert path.read_text() == "enabled\n"


def test_documented_keys_need_no_proof(proc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []

    def write(path: Path, text: str) -> None:
        written.append(text)
        path.write_text(text)

    put(proc, "vm.swappiness", "60\n")
    put(proc, "kernel.other", "60\n")
    monkeypatch.setattr(host_files, "write_attribute", write)
    change(vm__swappiness="50", kernel__other="51").apply()
    assert written == ["60\n", "51\n", "50\n"]


def test_after_another_boot_nothing_is_undone(proc: Path) -> None:
    path = put(proc, "vm.swappiness", "60\n")
    made = change(vm__swappiness="50")
    made.apply()
    record = json.loads(json.dumps(made.record()))
    record["owner"]["boot"] = "another"
    (said,) = kinds.rebuild_change(made.kind, record).undo(ConflictPolicy.OVERWRITE)
    assert "the host has been rebooted" in said
    assert path.read_text() == "50\n"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("net.core.somaxconn", "net"),
        ("kernel.shmmax", "ipc"),
        ("kernel.sem", "ipc"),
        ("fs.mqueue.msg_max", "ipc"),
    ],
)
def test_a_value_of_another_namespace_is_out_of_reach(proc: Path, key: str, kind: str) -> None:
    path = put(proc, key, "60\n")
    made = change(**{key.replace(".", "__"): "61"})
    made.apply()
    record = json.loads(json.dumps(made.record()))
    assert record["owner"]["namespace"]["kind"] == kind
    record["owner"]["namespace"]["inode"] = Path("/proc/self/ns/pid").stat().st_ino
    elsewhere = kinds.rebuild_change(made.kind, record)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(namespaces.Namespace, "is_gone", lambda _: False)
        patch.setattr(namespaces.Namespace, "process", lambda _: 4711)
        for policy in (ConflictPolicy.REPORT, ConflictPolicy.OVERWRITE):
            with pytest.raises(OutOfReachError, match=f"nsenter --{kind}=/proc/4711/ns/{kind} "):
                elsewhere.undo(policy)
        patch.setattr(namespaces.Namespace, "is_gone", lambda _: True)
        (said,) = elsewhere.undo()
        assert "namespace has ended" in str(said)
    assert path.read_text() == "61\n"
    del record["owner"]["namespace"]  # as older versions have it
    kinds.rebuild_change(made.kind, record).undo()
    assert path.read_text() == "60\n"


def test_sysctls_of_host_and_namespaces_are_changes_of_their_own(proc: Path) -> None:
    keys = ("vm.swappiness", "net.core.somaxconn", "net.core.rmem_max", "kernel.shmmni")
    for key in keys:
        put(proc, key, "60\n")
    made = kinds.prepare_changes({bound(key): "4096" for key in keys[1:]} | {bound(keys[0]): "50"})
    owners = [change.record()["owner"]["namespace"] for change in made]
    assert [owner and owner["kind"] for owner in owners] == ["net", "ipc", None]


STATES = ("0", "20"), ("65536", "0"), ("0", "0")
WANTED = {"bytes": ["8192", "65536"], "ratio": ["10", "20"]}
PAIR_CASES = [
    (amount, *state, f"{amount.removesuffix('bytes')}{form}", value)
    for amount in PAIRS
    for state in STATES
    for form, values in WANTED.items()
    for value in values
    if (amount, state, form) != ("vm/dirty_bytes", ("0", "0"), "bytes")
]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, proc: Path) -> Kernel:
    """The pairs behave as in a kernel; the files are only there for their modes."""
    values = dict.fromkeys([*PAIRS, *PAIRS.values()], "0")
    for path in values:
        put(proc, path, "0\n")
    made = Kernel(values)
    root = str(proc)
    monkeypatch.setattr(
        host_files, "read_attribute", lambda path: made.read(path.relative_to(root).as_posix())
    )
    monkeypatch.setattr(
        host_files,
        "write_attribute",
        lambda path, text: made.write(path.relative_to(root).as_posix(), text),
    )
    return made


def killed(kernel: Kernel, lives: int, work) -> bool:  # type: ignore[no-untyped-def]
    kernel.lives = lives
    try:
        work()
    except SimulatedKill:
        return True
    finally:
        kernel.lives = None
    return False


@pytest.mark.parametrize(("amount", "bytes_", "ratio", "key", "value"), PAIR_CASES)
def test_pairs_come_back_from_every_moment(
    kernel: Kernel, amount: str, bytes_: str, ratio: str, key: str, value: str
) -> None:
    """Killed after any number of writes, and once more while it is being undone."""
    original = dict(kernel.values) | {amount: bytes_, PAIRS[amount]: ratio}
    for lives, lives_in_undo in itertools.product(range(4), range(4)):
        kernel.values.update(original)
        (made,) = kinds.prepare_changes({bound(key): value})
        cut = killed(kernel, lives, made.apply)
        if not cut:
            assert kernel.values[key] == value
        again = kinds.rebuild_change(made.kind, json.loads(json.dumps(made.record())))
        killed(kernel, lives_in_undo, again.undo)
        again.undo()
        assert kernel.values == original


@pytest.mark.parametrize(("bytes_", "ratio"), STATES[:2])
@pytest.mark.parametrize(("key", "value"), [("vm/dirty_bytes", "8192"), ("vm/dirty_ratio", "10")])
def test_writers_are_never_stopped_on_the_way(
    kernel: Kernel, bytes_: str, ratio: str, key: str, value: str
) -> None:
    """With 0 in both forms nothing may be dirty."""
    kernel.values.update({"vm/dirty_bytes": bytes_, "vm/dirty_ratio": ratio})
    (made,) = kinds.prepare_changes({bound(key): value})
    made.apply()
    made.undo()
    for values in kernel.passed:
        assert (values["vm/dirty_bytes"], values["vm/dirty_ratio"]) != ("0", "0")


def test_a_host_without_any_limit_cannot_go_back_to_it(kernel: Kernel) -> None:
    with pytest.raises(SettingError, match="both 0, which the kernel cannot go back to"):
        kinds.prepare_changes({bound("vm.dirty_bytes"): "8192"})


def test_a_foreign_value_in_the_other_form_is_left_alone(kernel: Kernel) -> None:
    kernel.store("vm/dirty_ratio", "20")
    (made,) = kinds.prepare_changes({bound("vm.dirty_bytes"): "8192"})
    made.apply()
    kernel.store("vm/dirty_ratio", "33")
    with pytest.raises(
        RestoreError, match=r"vm\.dirty_ratio is 33: another process has changed it"
    ):
        made.undo()
    assert kernel.values["vm/dirty_ratio"] == "33"
    (done,) = made.undo(ConflictPolicy.OVERWRITE)
    assert str(done) == "sysctl.vm.dirty_ratio of this host: 33 -> 20"


def test_every_documented_key_is_well_formed() -> None:
    for definition in DEFINITIONS:
        assert definition.name == f"sysctl.{definition.key}"
        assert sysctl_keys.path_key(sysctl_keys.key_path(definition.key)) == definition.key
        assert sysctl_keys.irreversibility_reason(definition.key) is None
