"""Tests of the artifact cache: integrity, repeated and concurrent downloads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.software import cache

JARS = {"a.jar": b"first", "b.jar": b"second"}


class JarFetcher:
    """Puts JARS into a folder, and counts."""

    def __init__(self):
        self.times = 0

    def __call__(self, folder):
        self.times += 1
        for name, content in JARS.items():
            (folder / name).write_bytes(content)


@pytest.fixture
def fetch():
    return JarFetcher()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache/hadoop/3.4.2"


def kept(folder, fetch):
    lines = []
    assert cache.fetch_once(folder, "Hadoop 3.4.2", fetch, lines.append) == folder
    assert {path.name: path.read_bytes() for path in folder.glob("*.jar")} == JARS
    return lines


def test_artifact_is_fetched_once(folder, fetch):
    (line,) = kept(folder, fetch)
    assert line.startswith(f"Hadoop 3.4.2: there is none yet in {folder}; fetching it")
    assert kept(folder, fetch) == []
    assert fetch.times == 1
    assert sorted(path.name for path in folder.parent.iterdir()) == ["3.4.2", "3.4.2.lock"]


def changed(folder):
    before = (folder / "b.jar").stat()
    (folder / "b.jar").write_bytes(b"sEcond")
    os.utime(folder / "b.jar", ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (changed, "b.jar was damaged, removed or added"),
        (lambda folder: (folder / "a.jar").unlink(), "a.jar was damaged"),
        (lambda folder: (folder / "c.jar").touch(), "c.jar was damaged"),
        (lambda folder: (folder / "sha256.json").write_text("{"), "sha256.json was damaged"),
        (lambda folder: (folder / "sha256.json").write_text("[]"), "sha256.json was damaged"),
        (lambda folder: (folder / "sha256.json").unlink(), "there is none yet"),
    ],
    ids=["bit", "gone", "more", "manifest", "list", "no-manifest"],
)
def test_damaged_artifact_is_fetched_again(folder, fetch, damage, found):
    kept(folder, fetch)
    damage(folder)
    (line,) = kept(folder, fetch)
    assert line.startswith(f"Hadoop 3.4.2: {found}")
    assert fetch.times == 2


def test_a_fetch_that_fails_leaves_nothing(folder, fetch):
    def fail(into):
        (into / "a.jar").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.fetch_once(folder, "Hadoop", fail, print)
    assert [path.name for path in folder.parent.iterdir()] == ["3.4.2.lock"]
    kept(folder, fetch)


def test_folder_creation_failure_is_reported(tmp_path, fetch):
    (tmp_path / "cache").touch()
    with pytest.raises(UsageError) as raised:
        cache.fetch_once(tmp_path / "cache/hadoop/3.4.2", "Hadoop 3.4.2", fetch, print)
    assert raised.value.found in ("Not a directory", "File exists")
    assert "IOSTUDY_CACHE_DIR" in raised.value.remedy


FETCHING = textwrap.dedent("""
    import sys
    from pathlib import Path
    from iostudy_hadoop.software import cache
    def fetch(into):
        (into / "a.jar").write_bytes(b"first")
        print("fetching", flush=True)
        sys.stdin.readline()
        (into / "b.jar").write_bytes(b"second")
    cache.fetch_once(Path(sys.argv[1]), "Hadoop", fetch, lambda line: print(line, flush=True))
""")


@pytest.fixture
def other(folder):
    """Another process that is fetching, until it is signalled to continue."""
    command = [sys.executable, "-c", FETCHING, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        while process.stdout.readline() != "fetching\n":
            assert process.poll() is None
        yield process
        process.kill()


@pytest.mark.child
def test_concurrent_process_waits_and_does_not_fetch(folder, fetch, other):
    lines = []

    def report_line(line):
        lines.append(line)
        other.stdin.write("\n")
        other.stdin.flush()

    cache.fetch_once(folder, "Hadoop 3.4.2", fetch, report_line)
    assert lines == ["Hadoop 3.4.2: waiting for another iostudy that fetches it"]
    assert (folder / "b.jar").read_bytes() == JARS["b.jar"]
    assert other.wait() == 0
    assert fetch.times == 0


@pytest.mark.child
def test_after_a_kill_it_is_fetched_from_the_beginning(folder, fetch, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    (left,) = folder.parent.glob("3.4.2.new-*")
    kept(folder, fetch)
    assert not left.exists()


def test_location_of_the_cache(monkeypatch):
    assert cache.cache_directory({"IOSTUDY_CACHE_DIR": "/a"}) == Path("/a")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert cache.cache_directory({"XDG_CACHE_HOME": "/b"}) == Path("/var/cache/iostudy")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("HOME", "/home/somebody")
    assert cache.cache_directory({"XDG_CACHE_HOME": "/b"}) == Path("/b/iostudy")
    assert cache.cache_directory({"XDG_CACHE_HOME": "b"}) == Path("/home/somebody/.cache/iostudy")
