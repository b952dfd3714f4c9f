from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.persist import fstab


@pytest.mark.parametrize(
    ("options", "name", "value", "merged"),
    [
        ("defaults", "mount.atime", "noatime", "defaults,noatime"),
        ("", "mount.atime", "noatime", "noatime"),
        ("rw,relatime,discard", "mount.atime", "noatime", "rw,noatime,discard"),
        ("noatime,strictatime", "mount.atime", "relatime", "relatime"),
        ("rw,nodiratime", "mount.nodiratime", "off", "rw,diratime"),
        ("rw", "mount.lazytime", "on", "rw,lazytime"),
        ("commit=5,rw", "mount.commit", "30", "commit=30,rw"),
        ("barrier=0,rw", "mount.barrier", "on", "barrier,rw"),
        ("rw", "mount.barrier", "off", "rw,nobarrier"),
        ("discard=async", "mount.discard", "off", "nodiscard"),
        ("data=ordered", "mount.data", "writeback", "data=writeback"),
        ("rw,noexec,stripe=4", "mount.options", "exec,stripe=8,x=y", "rw,exec,stripe=8,x=y"),
        ("ro,noauto", "mount.discard", "async", "ro,noauto,discard=async"),
        ('context="a:c1,c2",rw', "mount.atime", "noatime", 'context="a:c1,c2",rw,noatime'),
    ],
)
def test_option_replaces_the_one_it_contradicts(options, name, value, merged):
    assert fstab.merge(options, {name: value}) == merged


WORDS = st.sampled_from(["rw", "noatime", "relatime", "commit=9", "user_xattr", "x-systemd.a=b"])


@given(st.lists(WORDS, unique=True), st.sampled_from(["noatime", "relatime", "strictatime"]))
def test_merging_options_is_idempotent(words, atime):
    once = fstab.merge(",".join(words), {"mount.atime": atime, "mount.commit": "30"})
    assert fstab.merge(once, {"mount.atime": atime, "mount.commit": "30"}) == once
    found = once.split(",")
    assert atime in found
    assert [w for w in found if w not in (atime, "commit=30")] == [
        w for w in words if "atime" not in w and "commit" not in w
    ]
