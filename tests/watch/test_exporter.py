"""Files for node_exporter, in a folder that another user may own."""

from __future__ import annotations

import os

import pytest

from iostudy.errors import RecordError
from iostudy.watch.exporter import write_textfile
from tests.watch.test_openmetrics import DEVICES, SAMPLES


class Ready:
    """Has the same counters each time."""

    def now(self):
        return SAMPLES, DEVICES


class Ended:
    """Is ended by a signal before there are any."""

    def now(self):
        raise KeyboardInterrupt


def test_no_file_that_a_link_of_the_folders_owner_leads_to_is_written(tmp_path):
    other = tmp_path / "other"
    other.write_text("kept")
    (tmp_path / f".a.prom.{os.getpid()}").symlink_to(other)
    write_textfile(Ready(), tmp_path / "a.prom", 0.001, 2)
    assert other.read_text() == "kept"


def test_node_exporter_may_read_it_whatever_the_umask_is(tmp_path):
    path, modes = tmp_path / "a.prom", []

    def look(_: float) -> None:
        modes.extend(each.stat().st_mode & 0o777 for each in tmp_path.iterdir())

    before = os.umask(0o077)
    try:
        write_textfile(Ready(), path, 0.001, 2, look)
    finally:
        os.umask(before)
    assert modes == [0o644]
    assert not path.exists()


def test_a_file_that_was_there_stays_where_nothing_was_written(tmp_path):
    path = tmp_path / "a.prom"
    path.write_text("of another")
    with pytest.raises(KeyboardInterrupt):
        write_textfile(Ended(), path, 0.001, 1)
    assert path.read_text() == "of another"


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(RecordError, match="No such file"):
        write_textfile(Ready(), tmp_path / "none" / "a.prom", 0.001, 1)
