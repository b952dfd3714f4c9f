import subprocess
from pathlib import Path

import pytest

from iostudy.errors import RestoreError
from iostudy.persist.places import (
    CommittedSetting,
    read_committed_settings,
)
from iostudy.settings import kinds
from iostudy.settings.transaction.journal import Journal, JournalMode
from iostudy.settings.transaction.recovery import restore_all
from iostudy.settings.transaction.transaction import Transaction
from tests.device.mounted import mounted
from tests.fixtures_loop import replace_loop
from tests.settings.note import FileNote

pytestmark = pytest.mark.root


def hold(name: str, place: str, value: str, mode: JournalMode = JournalMode.SET) -> None:
    with Transaction(mode=mode) as transaction:
        transaction.apply(*kinds.prepare_changes(dict.fromkeys(kinds.bind(name, place), value)))
        if mode is JournalMode.SET:
            transaction.commit()


def rows(found: tuple[CommittedSetting, ...]) -> list[tuple[str, str, str]]:
    return [(h.name, h.value, h.device.name if h.device else "") for h in found]


def test_held_settings_have_their_last_values(loop: str) -> None:
    assert read_committed_settings() == ()
    hold("block.read_ahead_kb", loop, "64")
    hold("block.scheduler", loop, "bfq")
    hold("block.read_ahead_kb", loop, "256")
    hold("block.nr_requests", loop, "32", JournalMode.STUDY)
    assert rows(read_committed_settings()) == [
        ("block.read_ahead_kb", "256", loop),
        ("block.scheduler", "bfq", loop),
    ]
    restore_all().undo_result.check()
    assert read_committed_settings() == ()


def test_options_of_a_mount_are_held_where_it_is_mounted(loop: str, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{loop}"], check=True)
    with mounted(f"/dev/{loop}", tmp_path / "data") as point:
        hold("mount.lazytime", str(point), "on")
        hold("mount.options", str(point), "noatime,commit=9")
        assert read_committed_settings() == (
            CommittedSetting("mount.lazytime", "on", mount_point=point),
            CommittedSetting("mount.options", "noatime,commit=9", mount_point=point),
        )
        restore_all().undo_result.check()
        assert read_committed_settings() == ()


def test_nothing_is_held_on_a_device_that_is_gone(loop: str, tmp_path: Path) -> None:
    hold("block.read_ahead_kb", loop, "64")
    assert len(read_committed_settings()) == 1
    replace_loop(loop)
    assert read_committed_settings() == ()
    assert len(list((tmp_path / "state").glob("*.journal"))) == 1


def test_a_journal_that_lost_a_line_is_no_answer(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "state", JournalMode.SET, "iostudy set")
    journal.log_changes([FileNote("/n0", "before", "after")])
    journal.commit()
    journal.close()
    journal.path.write_bytes(journal.path.read_bytes().replace(b"after", b"other"))
    with pytest.raises(RestoreError, match="damaged lines"):
        read_committed_settings()
