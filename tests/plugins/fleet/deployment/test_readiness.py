"""Tests of the readiness of nodes: what is missing, and its remedy."""

import pytest

from iostudy.errors import UsageError
from iostudy_fleet.deployment.readiness import (
    NodeFacts,
    StudyCheck,
    judge,
    read_facts,
    require_ready,
    unreachable,
)

VERSION = "1.2"


def facts(**changes: object) -> NodeFacts:
    own = {
        "host": "n",
        "python": "3.12.1",
        "executable": "/opt/python",
        "root": True,
        "version": VERSION,
        "check": None,
    }
    return NodeFacts.model_validate({**own, **changes})


def problems(*found: NodeFacts, needs_root: bool = False) -> list[list[str]]:
    named = {f"n{number}": own for number, own in enumerate(found)}
    judged = judge(named, VERSION, lambda node, what: f"{node}: pip {what}", needs_root=needs_root)
    return [[f"{own.found}; {own.remedy}" for own in each.problems] for each in judged]


def test_a_node_with_the_same_versions_is_ready():
    assert problems(facts(), needs_root=True) == [[]]


def test_version_skew_names_the_line_that_installs_the_right_one():
    ((skew,),) = problems(facts(version="1.1"))
    assert skew == "iostudy 1.1, and 1.2 here; n0: pip iostudy[fleet]==1.2"
    ((missing,),) = problems(facts(version=None))
    assert missing == "no iostudy-fleet in /opt/python, and 1.2 here; n0: pip iostudy[fleet]==1.2"
    assert problems(facts(python="3.11.9")) == [[]], "messages are JSON"


def test_root_is_needed_where_the_study_needs_it_and_where_another_node_has_it():
    user = facts(root=False)
    assert problems(user) == [[]]
    assert "not root" in problems(user, needs_root=True)[0][0]
    assert "not root" in problems(facts(), user)[1][0]


def test_a_study_that_the_node_refuses_is_a_problem_and_warnings_are_none():
    refused = StudyCheck(code=2, output="", error="study\n  wanted: bfq\n")
    assert "the study is refused: study wanted: bfq" in problems(facts(check=refused))[0][0]
    warned = StudyCheck(code=0, output='{"warnings": ["slow"]}', error="")
    deep = StudyCheck(code=0, output="[" * 100_000, error="")
    assert deep.warnings() == ()
    (own,) = judge({"n": facts(check=warned)}, VERSION, lambda *_: "", needs_root=False)
    assert (own.problems, own.warnings) == ((), ("slow",))


def test_all_problems_of_all_nodes_are_in_one_error():
    lost = unreachable("lost", "no connection", "plug it in")
    found = judge(
        {"lost": lost, "n": facts(version="9.1")}, VERSION, lambda *_: "", needs_root=False
    )
    with pytest.raises(UsageError) as error:
        require_ready(found)
    assert "lost: no connection; plug it in" in str(error.value)
    assert "n: iostudy 9.1" in str(error.value)
    require_ready(found[:0])


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"host": 1}', "[" * 100_000])
def test_what_is_no_facts_is_none(content: str):
    assert read_facts(content) is None
