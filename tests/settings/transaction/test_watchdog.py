"""systemd starts the watchdog of a run only in the namespaces of that run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iostudy.settings.transaction import watchdog


@pytest.fixture(autouse=True)
def _systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "is_dir", lambda _: True)
    monkeypatch.setattr(watchdog.shutil, "which", lambda *_, **__: "/usr/bin/systemd-run")


@pytest.mark.parametrize("other", ["", "mnt", "pid", "net", "ipc"])
def test_systemd_starts_it_in_its_own_namespaces_alone(
    monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    def namespace(process: str, kind: str) -> str:
        return f"{kind}:[{process if kind == other else 0}]"

    monkeypatch.setattr(watchdog, "_namespace", namespace)
    assert watchdog._can_use_systemd() == (other == "")
