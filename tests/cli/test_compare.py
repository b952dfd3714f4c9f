"""``iostudy compare`` as a user calls it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from iostudy.execution.session import prepare_session
from iostudy.study.parser import parse
from tests.cli.inside import InProcessProgram
from tests.cli.test_commands import WITHOUT_ROOT
from tests.fake_node import FakeNode

DIRECT = """\
question: Which?
target: .
factors: {workload.record_size: [1MiB, 512KiB, 4KiB]}
workloads: [{io: {label: file-reads, files: 1, size: 4MiB, direct: true}}]
decide: {margin: 1%, risk: 20%, blocks: [10, 10]}
"""


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessProgram]:
    """A folder with two studies that every test may read."""
    program = InProcessProgram(tmp_path_factory.mktemp("compared"))
    two_studies(program, WITHOUT_ROOT)
    yield program
    program.end()


def two_studies(program, text: str) -> None:
    program.write(text)
    for out, seed in (("one", "1"), ("two", "2")):
        done = program("run", "study.yaml", "--out", out, "--seed", seed)
        assert done.returncode == 0, done.stderr


def test_two_studies_are_compared_in_every_format(compared: InProcessProgram):
    done = compared("compare", "one", "two")
    assert done.returncode == 0, done.stderr
    assert "two compared with one" in done.stdout
    assert "seed" in done.stdout
    document = json.loads(compared("compare", "one", "two", "--format", "json").stdout)
    assert [each["first"]["configuration"] for each in document["compared"]] == ["1MiB", "64KiB"]
    # They may have begun in the same minute.
    assert {each["name"] for each in document["differences"]} - {"started"} == {"seed"}
    requested = ("--configuration", "1MiB=64KiB", "--format", "markdown")
    assert "| 1MiB / 64KiB |" in compared("compare", "one", "two", *requested).stdout
    unknown = compared("compare", "one", "two", "--configuration", "2MiB")
    assert unknown.returncode == 2
    assert "one has 1MiB, 64KiB" in unknown.stderr


def test_comparing_a_folder_with_itself_is_refused(compared: InProcessProgram):
    same = compared("compare", "one", "./one")
    assert (same.returncode, same.stdout) == (2, "")
    assert "the same folder twice" in same.stderr
    missing = compared("compare", "one", "nowhere")
    assert missing.returncode == 2
    assert "nowhere" in missing.stderr


def test_the_worse_of_two_record_sizes_fails_and_the_better_passes(program):
    study = parse(DIRECT, where="study.yaml", name="study")
    for out, seed in (("one", 1), ("two", 2)):
        (program.folder / out).mkdir()
        session = prepare_session(study, program.folder / out, root=False, resume=False)
        session.execute(FakeNode(effects={"4KiB": -0.5}), seed=seed, listeners=())
    levels = [("--configuration", label) for label in ("512KiB=4KiB", "4KiB=512KiB")]
    done = [program("compare", "one", "two", *level, "--fail-on", "worse") for level in levels]
    assert [each.returncode for each in done] == [1, 0], [each.stdout for each in done]
    assert "two against one: worse" in done[0].stderr


ALONE = """\
question: How fast?
target: .
factors: {workload.record_size: [1MiB]}
workloads: [{io: {label: file-reads, files: 1, size: 4MiB}}]
decide: {margin: 5%, risk: 20%, blocks: [3, 3]}
"""


def test_no_job_passes_for_want_of_a_verdict(program):
    program.write(ALONE)
    assert program("run", "study.yaml", "--out", "one").returncode == 0
    shutil.copytree(program.folder / "one", program.folder / "two")
    shown = program("compare", "one", "two")
    assert shown.returncode == 0, shown.stderr
    assert "No verdict is given" in shown.stdout
    failed = program("compare", "one", "two", "--fail-on", "worse")
    assert failed.returncode == 2
    assert "single configuration" in failed.stderr
    assert "put old and new into one study" in failed.stderr


def test_verdicts_are_exit_codes_and_files_for_ci(compared: InProcessProgram):
    limits = ("--fail-on", "inconclusive", "--fail-on", "worse")
    files = ("--junit", "verdicts.xml", "--summary", "summary.md")
    done = compared("compare", "one", "two", *limits, *files)
    document = json.loads(compared("compare", "one", "two", "--format", "json").stdout)
    effects = [each["effect"] for each in document["compared"] if each["effect"]]
    assert effects
    open_ = ("inconclusive", "not worse", "not better")
    failed = [each for each in effects if each["verdict"] in (*open_, "worse")]
    assert done.returncode == (1 if failed else 0), done.stderr
    assert done.stderr.count("two against one") == len(failed)
    xml = (compared.folder / "verdicts.xml").read_text()
    assert xml.count("<failure") == len(failed)
    assert xml.count("<testcase") == len(effects)
    compared("run", "study.yaml", "--out", "one", "--resume", *files)
    assert (compared.folder / "summary.md").read_text().count("\n## ") >= 2
    assert (compared.folder / "verdicts.xml").read_text().count("<testcase") == 1
    unwritable = compared("compare", "one", "two", "--junit", "missing/verdicts.xml")
    assert unwritable.returncode == 2
    assert "missing/verdicts.xml" in unwritable.stderr
