"""The generated manual pages."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tools.docs import man_pages

from iostudy.cli.commands import all_commands

MAN = Path(__file__).parents[1] / "packaging/wheel/data/share/man"


def test_iostudy_1_has_every_command_and_exit_code():
    page = man_pages.render_program_page()
    for command in all_commands():
        name = command.name.replace("-", r"\-")
        assert f".SS iostudy {name}" in page
    for code in (0, 1, 2, 3, 4, 5, 70):
        assert f".TP\n.B {code}\n" in page
    assert r"\fB\-\-fail\-on\fR \fIworse|inconclusive\fR" in page


def test_iostudy_study_5_has_the_keys():
    page = man_pages.render_study_page()
    for key in ("question", "target", "factors", "workloads", "decide.margin", "decide.blocks"):
        assert f".TP\n.B {key}\n" in page


@pytest.mark.child
@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("page", ["man1/iostudy.1", "man5/iostudy-study.5"])
def test_groff_has_no_warning(page: str):
    command = ["groff", "-man", "-Tutf8", "-ww", "-Wbreak", "-z", str(MAN / page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
