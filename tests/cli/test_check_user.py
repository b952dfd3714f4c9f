"""Tests of ``check`` as an ordinary user: the plan and the steps that need root."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from iostudy.cli import check as command
from iostudy.cli.main import app
from tests.cli.program import LOOPBACK, study


@pytest.fixture
def checked(disk_folder, monkeypatch):
    """``check`` of a study as somebody else than root."""
    monkeypatch.chdir(disk_folder)
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(disk_folder / "state"))
    monkeypatch.setattr(command.os, "geteuid", lambda: 1000)

    def check(text: str) -> str:
        (disk_folder / "study.yaml").write_text(study(text))
        done = CliRunner().invoke(app, ["check", "study.yaml", "--full"])
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    return check


def test_plan_lists_what_needs_root(checked):
    text = checked(LOOPBACK.replace("{loopback: {size: 64MiB}}", "."))
    assert "block.scheduler none, bfq" in text
    assert "needs root to change block.scheduler" in text


def test_unreadable_device_is_checked_only_as_root(checked):
    text = checked(LOOPBACK.replace("loopback: {size: 64MiB}", "scratch: {device: /no/such}"))
    assert "needs root to format /no/such" in text


def test_plan_without_root_operations_does_not_mention_root(checked):
    text = checked(
        LOOPBACK.replace("{loopback: {size: 64MiB}}", ".").replace(
            "block.scheduler: [none, bfq]", "workload.direct: [true, false]"
        )
    )
    assert "needs root" not in text
