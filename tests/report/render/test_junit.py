"""Tests of verdicts as test cases and of their JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from iostudy.analysis.verdict import Verdict
from iostudy.report.answer import build_answer
from iostudy.report.render import markdown
from iostudy.report.render.verdict_cases import (
    VerdictCase,
    list_report_cases,
    render_junit,
    select_cases,
)
from tests.report import factory

WORSE = VerdictCase("file-writes", "bfq against none", Verdict.WORSE, Verdict.WORSE, "worse: -12 %")
OPEN, SAME = Verdict.INCONCLUSIVE, Verdict.EQUIVALENT
UNDECIDED = VerdictCase("file-reads", "bfq <&> none", OPEN, OPEN, "inconclusive: ?")
EQUIVALENT = VerdictCase("file-reads", "kyber against none", SAME, SAME, "equivalent")
GIVEN_UP = VerdictCase("file-reads", "all blocks", OPEN, OPEN, "no fio", "no fio")


def outcomes(fail_on):
    cases = (WORSE, UNDECIDED, EQUIVALENT, GIVEN_UP)
    (suite,) = ET.fromstring(render_junit("study", cases, fail_on))
    found = [[child.tag for child in case if child.tag != "system-out"] for case in suite]
    counts = tuple(suite.get(name) for name in ("tests", "failures", "errors", "skipped"))
    assert suite[1].get("name") == "bfq <&> none"
    return found, counts


def test_named_verdicts_are_failures_and_others_are_not():
    found, counts = outcomes({"worse"})
    assert found == [["failure"], ["skipped"], [], ["error"]]
    assert counts == ("4", "1", "1", "1")
    assert outcomes(set())[0] == [[], ["skipped"], [], ["error"]]
    assert outcomes({"inconclusive"})[0] == [[], ["failure"], [], ["error"]]


def test_every_comparison_of_a_report_is_a_case():
    report = factory.report()
    cases = list(list_report_cases(report))
    others = len(report.configurations) - 1
    assert len(cases) == others * len(report.workloads)
    (worse,) = select_cases(cases, ["worse"])
    assert (worse.workload, worse.name) == ("file-writes", "bfq against none")
    assert worse.text.startswith("worse: -")
    assert worse.text.endswith("]")


def test_a_one_sided_verdict_decides_only_what_the_goal_wants_to_know():
    report = factory.report()
    first, *others = report.workloads
    baseline, other, *rest = first.results
    for guarded, failing in ((True, 0), (False, 1)):
        changed = other.model_copy(update={"verdict": Verdict.NOT_WORSE, "guarded": guarded})
        own = first.model_copy(update={"results": (baseline, changed, *rest)})
        cases = list_report_cases(report.model_copy(update={"workloads": (own, *others)}))
        open_ = select_cases(cases, ["inconclusive"])
        where = first.label, f"{other.configuration} against {report.baseline}"
        assert [(case.workload, case.name) for case in open_].count(where) == failing


def test_the_summary_has_the_answer_and_the_verdicts():
    report = factory.report()
    text = markdown.render_answer(build_answer(report, None))
    assert report.headline in text
    assert all(f"{workload.label}: " in text for workload in report.workloads)
    assert text.index(report.headline) < text.index("| ▼ worse")
    assert "Inventory" not in text
