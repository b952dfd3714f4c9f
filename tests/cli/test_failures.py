"""Errors of the operating system are errors of iostudy, each with a remedy."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from iostudy.cli.failures import explain
from iostudy.errors import InternalError, RecordError, ResourceError, TargetError, UsageError


@pytest.fixture(autouse=True)
def state(monkeypatch, tmp_path):
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path))


class PanicException(BaseException):
    """As pyo3's."""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EACCES, "no", "/root/x"), TargetError),
        (OSError(errno.ELOOP, "no", b"/root/x"), TargetError),
        (OSError(errno.EROFS, "no", "/root/x"), UsageError),
        (OSError(errno.ENOSPC, "no", "/root/x"), RecordError),
        (BlockingIOError(errno.EAGAIN, "no"), ResourceError),
        (OSError(errno.EMFILE, "no", "/dev/null"), ResourceError),
        (MemoryError(), ResourceError),
        (RuntimeError("can't start new thread"), ResourceError),
        (PanicException("failed to spawn thread"), ResourceError),
        (ImportError("x.so: failed to map segment from shared object"), ResourceError),
    ],
)
def test_errors_for_users_have_a_remedy(error, kind):
    explained = explain(error)
    assert type(explained) is kind
    assert explained.remedy


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, "no"), OSError("no"), PanicException("x"), KeyError("x")]
)
def test_other_exceptions_are_internal_errors(error, tmp_path):
    assert isinstance(explain(error), InternalError)
    assert len(list(tmp_path.glob("crash-*"))) == 1


def test_a_path_that_the_locale_cannot_write_is_explained():
    error = UnicodeEncodeError("latin-1", "/tmp/\u2192", 5, 6, "ordinal not in range(256)")
    explained = explain(error)
    assert type(explained) is UsageError
    assert "LC_ALL=C.UTF-8" in explained.remedy
    assert isinstance(explain(UnicodeEncodeError("utf-8", "\udcff", 0, 1, "no")), InternalError)


def test_only_the_newest_tracebacks_are_kept(tmp_path):
    other = tmp_path / "crash-notes"
    other.touch()
    for second in range(30):
        (tmp_path / f"crash-20200101-0000{second:02}-1.txt").touch()
    new = Path(explain(KeyError("x")).where)
    kept = sorted(tmp_path.glob("crash-*.txt"))
    assert [path.name for path in kept[:-1]] == [
        f"crash-20200101-0000{second:02}-1.txt" for second in range(21, 30)
    ]
    assert kept[-1] == new
    assert other.exists()


def test_a_traceback_is_never_written_through_a_folder_of_others(tmp_path, monkeypatch, capsys):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(shared))
    assert explain(KeyError("x")).where == "stderr, above"
    assert "KeyError" in capsys.readouterr().err
    assert not list(shared.iterdir())
