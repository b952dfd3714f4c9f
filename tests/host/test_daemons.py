from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.files import Reader
from iostudy.host.processes import OPEN_FILES, parse_role, read_daemons
from tests.host.recorded import DATA_NODE, process


@pytest.mark.parametrize(
    ("arguments", "role"),
    [
        (["/usr/bin/java", "-Dproc_datanode", "-Xmx1000m", DATA_NODE], "DataNode"),
        (["jsvc.exec", "org.apache.hadoop.hdfs.server.datanode.SecureDataNodeStarter"], "DataNode"),
        (["java", "org.apache.hadoop.hdfs.server.namenode.NameNode", "-format"], "NameNode"),
        (["/usr/sbin/tuned", "-l", "-P"], "tuned"),
        (["/usr/bin/python3", "-Es", "/usr/sbin/tuned", "-l", "-P"], "tuned"),
        (["/usr/libexec/platform-python", "-Es", "/usr/sbin/tuned"], "tuned"),
        (["vim", "/etc/tuned"], None),
        (["grep", DATA_NODE], None),
        ([""], None),
    ],
)
def test_roles(arguments: list[str], role: str | None) -> None:
    assert parse_role("\0".join([*arguments, ""])) == role


@given(st.text())
def test_other_programs_have_no_role(text: str) -> None:
    assert parse_role(text) in (None, "tuned")


def test_the_daemons_of_a_host(tmp_path: Path) -> None:
    process(tmp_path, 12, f"java\0{DATA_NODE}\0", "limits-2.6.32")
    process(tmp_path, 9, "bash\0", "limits-6.8")
    (tmp_path / "proc/sys").mkdir()
    (daemon,) = read_daemons(Reader(tmp_path))
    assert (daemon.pid, daemon.role) == (12, "DataNode")
    assert daemon.limits[OPEN_FILES].soft == 1024


def test_unreadable_processes_are_reported(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.refuse(Path("/proc/1/limits"), PermissionError(13, "Permission denied"))
    reader.refuse(Path("/proc/1/limits"), PermissionError(13, "Permission denied"))
    reader.refuse(Path("/proc/2/limits"), ProcessLookupError(3, "No such process"))
    assert reader.refused == ("/proc/1/limits: Permission denied",)
