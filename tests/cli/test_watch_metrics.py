"""Tests of ``iostudy watch --listen`` and ``--textfile``: complete and valid metrics."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.process
SAMPLE = re.compile(
    r'^(?P<name>[a-z_]+)(\{(?P<labels>\w+="[^"]*"(,\w+="[^"]*")*)\})? (?P<value>\S+)$'
)


def samples(text: str) -> dict[tuple[str, str], float]:
    found = (SAMPLE.match(line) for line in text.splitlines() if not line.startswith("#"))
    return {(each["name"], each["labels"] or ""): float(each["value"]) for each in found}


@pytest.mark.root
def test_openmetrics_are_served_on_loopback_until_a_signal_comes(program, loop):
    serving = program.start("watch", loop, "--listen", "0")
    with serving:
        said = serving.stderr.readline()
        url = said.split()[-1]
        assert url.startswith("http://127.0.0.1:")
        with urlopen(url) as answer:
            assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
            text = answer.read().decode()
        assert text.endswith("\n# EOF\n")
        labels = f'called="{loop}",device="{loop}"'
        before = samples(text)["iostudy_disk_written_bytes_total", labels]
        with Path(f"/dev/{loop}").open("wb", buffering=0) as disk:
            disk.write(bytes(1 << 20))
            os.fsync(disk.fileno())
        with urlopen(url) as answer:
            after = samples(answer.read().decode())
        assert after["iostudy_disk_written_bytes_total", labels] == before + (1 << 20)
        with pytest.raises(HTTPError, match="404"):
            urlopen(url.replace("/metrics", "/"))
        serving.send_signal(signal.SIGTERM)
        assert serving.stderr.read() == ""
    assert serving.returncode == 143


def test_a_textfile_is_always_whole_and_goes_at_the_end(program, tmp_path):
    path = tmp_path / "iostudy.prom"
    writing = program.start("watch", "--textfile", str(path), "--interval", "0.1")
    with writing:
        while not path.exists():
            assert writing.poll() is None
            time.sleep(0.01)
        texts = {path.read_text() for _ in range(100)}
        writing.send_signal(signal.SIGTERM)
        assert writing.stderr.read() == ""
    assert writing.returncode == 143
    assert all(text.endswith("\n") and samples(text) for text in texts)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--listen", "somewhere"], "HOST:PORT"),
        (["--listen", "192.0.2.1:0"], "an address of this machine"),
        (["--textfile", "metrics.txt"], ".prom"),
        (["--textfile", "a.prom", "--json"], "one of"),
    ],
)
def test_unusable_listen_address_is_refused(program, arguments, message):
    refused = program("watch", *arguments)
    assert refused.returncode == 2
    assert message in refused.stderr
