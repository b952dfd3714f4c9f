"""Tests of keeping a declared setting: the command that a person has to type."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.persist.formats import Format, plan
from iostudy.persist.request import PersistedSetting, PersistRequest
from iostudy.settings import catalog
from iostudy.settings.declarations import Declaration

DECLARED = {
    "my.knob": {"read": "knob get", "write": "knob set {}"},
    "my.kept": {"read": "knob get", "write": "knob set {}", "persist": "knob set --save {}"},
    "my.key": {
        "file": "/etc/app.conf",
        "key": "wal",
        "section": "s",
        "after": "systemctl reload x",
    },
    "my.file": {"attribute": "/sys/kernel/mm/ksm/run"},
}


@pytest.fixture(autouse=True)
def _declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_declared", {})
    catalog.declare(
        {
            name: Declaration.model_validate(own).define(name, undocumented=True)
            for name, own in DECLARED.items()
        }
    )


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("my.knob", "a b", "run knob set 'a b'"),
        ("my.kept", "1", "run knob set --save 1"),
        ("my.key", "on", "write wal = on into /etc/app.conf in section [s], then run systemctl"),
    ],
)
def test_a_command_or_a_line_is_named(tmp_path: Path, name: str, value: str, remedy: str) -> None:
    request = PersistRequest("x", (PersistedSetting(name, value),))
    (unsupported,) = plan(request, None, tmp_path).unsupported
    assert remedy in unsupported.remedy


def test_a_file_of_the_kernel_is_a_line_of_tmpfiles_or_of_tuned(tmp_path: Path) -> None:
    kept = (
        PersistedSetting("my.file", "1"),
        PersistedSetting("/sys/kernel/mm/ksm/smart_scan", "0"),
    )
    request = PersistRequest("x", kept)
    (file,) = plan(request, None, tmp_path).artifacts
    assert "w /sys/kernel/mm/ksm/run - - - - 1\n" in file.after
    assert "w /sys/kernel/mm/ksm/smart_scan - - - - 0\n" in file.after
    (profile,) = plan(request, Format.TUNED, tmp_path).artifacts
    assert "[sysfs]\n/sys/kernel/mm/ksm/run=1\n" in profile.after
