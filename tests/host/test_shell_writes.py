from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.host.configuration.programs import find_shell_writes

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
RA = "/sys/block/{}/queue/read_ahead_kb"
LOOP = """\
#!/bin/bash
# echo 1 > /sys/block/sdq/queue/nr_requests
VALUE=4096
for disk in sda sdb; do
    echo $VALUE > "/sys/block/${disk}/queue/read_ahead_kb"
done
for f in /sys/block/nvme*/queue/scheduler; do echo none > $f; done
"""


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        (f"echo never > {THP}", [(THP, "never")]),
        (f"/bin/sh -c 'echo never >{THP}'", [(THP, "never")]),
        (f'/bin/sh -c "echo \\"never\\" > {THP}"', [(THP, "never")]),
        (f"echo -n 'never' | sudo tee {THP} >/dev/null", [(THP, "never")]),
        (f"printf '%s\\n' never > {THP}", [(THP, "never")]),
        ("echo 10 >> /proc/sys/vm/swappiness", [("/proc/sys/vm/swappiness", "10")]),
        ("blockdev --setra 8 /dev/sda /dev/sdb", [(RA.format(d), "4") for d in ("sda", "sdb")]),
        ("/sbin/hdparm -q -a 512 /dev/disk/by-id/x", [(RA.format("*"), "256")]),
        ("blockdev --setra $RA /dev/$1", [(RA.format("*"), "*")]),
        ("sysctl -q -w vm.swappiness=1 'vm.dirty_ratio=5'",
         [("/proc/sys/vm/swappiness", "1"), ("/proc/sys/vm/dirty_ratio", "5")]),
        ("echo mq-deadline > /sys/block/$(basename $d)/queue/scheduler",
         [("/sys/block/*/queue/scheduler", "mq-deadline")]),
        (LOOP, [
            (RA.format("sda"), "4096"), (RA.format("sdb"), "4096"),
            ("/sys/block/nvme*/queue/scheduler", "none"),
        ]),
        ("echo hello > /run/motd; cat /sys/block/sda/size; sysctl --system", []),
    ],
)  # fmt: skip
def test_what_a_command_writes(text: str, writes: list[tuple[str, str]]) -> None:
    assert [(write.path, write.value) for write in find_shell_writes(text)] == writes


@given(st.text(st.sampled_from("echo >$a{}()`'\"\\/sys\n|tee=;*")))
def test_any_text_is_searched(text: str) -> None:
    for write in find_shell_writes(text):
        assert 0 <= write.offset <= len(text)
        assert write.path.startswith(("/sys/", "/proc/sys/"))
