"""The commands of the jobs in docs/in-ci.md compare an old and a new build of a project."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

pytestmark = [
    pytest.mark.interpreter,
    pytest.mark.skipif(
        not (shutil.which("make") and shutil.which("git")), reason="needs make, git"
    ),
]
PAGE = Path(__file__).parents[2] / "docs/in-ci.md"
GIT = ("git", "-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main")
SLOW, FAST = "sleep 0.12", "sleep 0.02"


def job(name: str) -> dict[str, Any]:
    blocks = re.findall(r"^```yaml\n# \S+\.yml\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    return next(job for job in map(YAML(typ="safe").load, blocks) if name in job)


def project(folder: Path, program: str) -> None:
    folder.mkdir(exist_ok=True)
    script = rf"printf '#!/bin/sh\nexec {program}\n' > program; chmod +x program"
    (folder / "Makefile").write_text(f"program:\n\t{script}\n")


def shell(lines: list[str], folder: Path, **variables: str) -> int:
    """Run what a runner gives to bash, but install nothing: iostudy is that of the tests."""
    script = "\n".join(line for line in lines if not line.startswith("pip install"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "IOSTUDY_STATE_DIR": str(folder / "state")}
    command = ["bash", "-e", "-c", script]
    return subprocess.run(command, cwd=folder, env=environment | variables, check=False).returncode


def test_the_workflow_for_github_passes_a_faster_build(tmp_path: Path):
    project(tmp_path / "old", SLOW)
    project(tmp_path / "new", FAST)
    steps = job("jobs")["jobs"]["compare"]["steps"]
    summary = tmp_path / "summary"
    lines = [step["run"] for step in steps if "run" in step]
    assert shell(lines, tmp_path, GITHUB_STEP_SUMMARY=str(summary)) == 0
    assert "better" in summary.read_text()
    assert (tmp_path / steps[-1]["with"]["path"] / "report.html").exists()


def test_the_job_for_gitlab_fails_a_slower_build(tmp_path: Path):
    for program in (FAST, SLOW):
        project(tmp_path, program)
        for words in (["init", "-q"], ["add", "Makefile"], ["commit", "-qm", program]):
            subprocess.run([*GIT, *words], cwd=tmp_path, check=True)
    subprocess.run(
        [*GIT, "update-ref", "refs/remotes/origin/main", "HEAD^"], cwd=tmp_path, check=True
    )
    performance = job("performance")["performance"]
    lines = performance["script"]
    assert shell(lines, tmp_path, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main") == 1
    answer, results = (tmp_path / path for path in performance["artifacts"]["paths"])
    assert "worse" in answer.read_text()
    assert (results / "report.html").exists()
