"""Every command reports a stdout that cannot be written to, and prints in any encoding."""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.attack import streams
from tests.one_interpreter import run_commands

pytestmark = pytest.mark.process

ENCODINGS = (
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)
STUDY = """\
question: Which record size \u2192 1 MiB or 64 KiB?
target: .
factors: {workload.record_size: [1MiB, 64KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 1MiB}}]
decide: {margin: 5%, risk: 5%, blocks: [3, 3]}
"""
# A command of each way to print, and each mark that iostudy prints.
PRINT = """\
from iostudy.cli import console, streams
streams.prepare_streams()
console.print_line("▲▼●±◀▶┊┿ ≥ … é \\U0001f600")
console.print_table(("─", "│"), [("├", "└")])
console.say("▏█ é")
print("▲")
streams.flush_streams()
"""


@pytest.mark.parametrize("stdout", streams.STDOUTS)
@pytest.mark.parametrize("command", [("--help",), ("--version",), ("settings",)], ids=str)
def test_full_stdout_exits_with_3(command, stdout, tmp_path):
    assert streams.attack(command, stdout, {"IOSTUDY_STATE_DIR": str(tmp_path)}) == ""


def test_completion_to_a_full_disk_ends_with_3(tmp_path):
    environment = {"IOSTUDY_STATE_DIR": str(tmp_path), **streams.COMPLETION}
    assert streams.attack((), "full", environment) == ""


@pytest.mark.parametrize("environment", ENCODINGS, ids=str)
def test_characters_outside_the_encoding_are_printed_in_ascii(environment, tmp_path):
    script = tmp_path / "print.py"
    script.write_text(PRINT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
    assert done.stdout.startswith(b"^v=")
    assert b"..." in done.stdout
    assert b"\\U0001f600" in done.stdout
    assert b"##" in done.stderr


@pytest.fixture(scope="module")
def latin_1(tmp_path_factory) -> dict[str, str]:
    """A locale in ISO-8859-1, compiled here; in its absence, the same encoding of the streams."""
    folder = tmp_path_factory.mktemp("locales")
    name = "en_US.ISO-8859-1"
    compile_ = ("localedef", "-i", "en_US", "-f", "ISO-8859-1", str(folder / name))
    if shutil.which("localedef") and not subprocess.run(compile_, check=False).returncode:
        return {"LOCPATH": str(folder), "LC_ALL": name}
    return {"PYTHONIOENCODING": "latin-1"}


def test_a_study_and_its_report_work_in_latin_1(tmp_path, latin_1):
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    commands = (
        "run study.yaml --out out",
        "report out",
        "report out --format markdown",
        "bench io -o files=1 -o size=1MiB",
    )
    environment = {**os.environ, "IOSTUDY_STATE_DIR": str(tmp_path / "state"), **latin_1}
    for code, text in run_commands([*map(str.split, commands)], tmp_path, environment):
        assert (code, "Traceback" in text) == (0, False), text


def test_html_and_json_are_utf8_in_any_encoding():
    code = (
        "from iostudy.cli import console, streams; streams.prepare_streams(); "
        "console.print_utf8('▲é')"
    )
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    printed = subprocess.check_output([sys.executable, "-c", code], env=environment)
    assert printed.decode() == "▲é"


def test_a_full_pipe_that_is_not_blocking_is_waited_for(tmp_path):
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETFL, os.O_NONBLOCK)
    text = "x" * 300_000
    code = (
        "from iostudy.cli import console, streams; streams.prepare_streams(); "
        f"console.print_text('x' * {len(text)})"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=writes) as process:
        os.close(writes)
        read: list[bytes] = []
        reader = threading.Thread(target=lambda: read.append(Path(f"/dev/fd/{reads}").read_bytes()))
        reader.start()
        reader.join()
    os.close(reads)
    assert (process.returncode, len(read[0])) == (0, len(text))


def test_streams_that_are_no_files_stay_as_they_are(monkeypatch):
    from iostudy.cli.streams import prepare_streams

    stdout = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    prepare_streams()
    assert sys.stdout is stdout
