"""A study file that is right, and what is found in one that is not."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from functools import cache

import pytest

from iostudy.errors import Problem, StudyError
from iostudy.study import library
from iostudy.study.model import Study
from iostudy.study.parser import load, parse
from iostudy.workloads import catalog

WRITES = "io: {label: file-writes, operation: write, files: 2, size: 64MiB}"
READS = "io: {label: file-reads}"
GOOD = textwrap.dedent(f"""\
    question: Does the scheduler matter?
    target: /data/scratch
    factors:
      block.scheduler: [none, bfq]
    workloads:
      - {WRITES}
      - {READS}
    decide: {{margin: 3%, risk: 5%, blocks: [5, 30]}}
    """)


JOB = "hadoop.some-job"
ON_HADOOP = textwrap.dedent(f"""\
    question: Does the block size matter?
    target: /data/scratch
    factors:
      hadoop.dfs.blocksize: [128MiB, 64MiB]
    workloads:
      - {JOB}
    """)


def add_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put JOB among the workloads: it runs on Hadoop, and else is as io."""
    job = replace(catalog.get("io"), name=JOB, service="hadoop")
    monkeypatch.setitem(catalog._ALL, JOB, job)


@cache
def load_ready_made(name: str) -> Study:
    """Return a ready-made study; each is parsed once."""
    return load(library.find_study(name))


def read(text: str) -> Study:
    return parse(textwrap.dedent(text), where="study.yaml", name="study")


@cache
def parse_once(text: str) -> Study:
    """Return the study of a text: a value that tests may share."""
    return parse(text, where="study.yaml", name="study")


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(StudyError) as caught:
        read(text)
    return caught.value.problems


def only_problem(old: str, new: str) -> Problem:
    assert old in GOOD
    (problem,) = problems(GOOD.replace(old, new))
    return problem
