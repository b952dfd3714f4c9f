"""Verdicts as test cases for continuous integration, and their JUnit XML.

Elements and attributes of the schema of Jenkins' xUnit plugin that GitLab and GitHub Actions read:
testsuite, testcase, failure, error and skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import JudgedChange
from iostudy.report.documents.comparison import StudyComparison
from iostudy.report.documents.existing_runs import RunsComparison
from iostudy.report.formatting import format_change_interval
from iostudy.report.topics.verdicts import Result, list_verdicts
from iostudy.report.values import Report
from iostudy.visible import visible


@dataclass(frozen=True)
class VerdictCase:
    """One comparison. ``reason`` says why there is no verdict at all; empty if there is one.

    ``decided`` is what the verdict decides: a one-sided one only what the goal wants to know.
    """

    workload: str
    name: str
    verdict: Verdict
    decided: Verdict
    text: str
    reason: str = ""


def _build_case(workload: str, name: str, compared: Result | JudgedChange) -> VerdictCase:
    verdict = compared.verdict or Verdict.INCONCLUSIVE
    text = f"{verdict}: {format_change_interval(compared.change, compared.interval)}"
    is_guarded = isinstance(compared, Result) and compared.guarded
    return VerdictCase(workload, name, verdict, verdict if is_guarded else verdict.two_sided, text)


def list_report_cases(report: Report) -> Iterator[VerdictCase]:
    """The verdicts on which `run --fail-on` depends, and the workloads that were given up."""
    for effect in (effect for topic in report.topics for effect in topic.list_effects()):
        yield _build_case(effect.workload, f"{effect.level} against {effect.against}", effect)
    for verdicts in list_verdicts(report.workloads):
        by = f" by {verdicts.figure.name}" if verdicts.name != verdicts.workload else ""
        for result in verdicts.choices:
            name = f"{result.configuration} against {report.baseline}{by}"
            if result.verdict is not None:
                yield _build_case(verdicts.workload, name, result)
    for workload in report.given_up:
        reason = f"given up after {workload.attempts} attempts: {workload.reason}"
        none = Verdict.INCONCLUSIVE
        yield VerdictCase(workload.workload, "all blocks", none, none, reason, reason)


def list_comparison_cases(comparison: StudyComparison) -> Iterator[VerdictCase]:
    """The verdicts on the effects in the second study against those in the first."""
    for result in comparison.compared:
        first, second = result.first.configuration, result.second.configuration
        configuration = first if first == second else f"{second} against {first}"
        by = f" by {result.figure.name}" if result.is_guard else ""
        name = f"{configuration}: {comparison.second.label} against {comparison.first.label}{by}"
        if result.effect is not None:
            yield _build_case(result.workload, name, result.effect)


def list_runs_cases(comparison: RunsComparison) -> Iterator[VerdictCase]:
    """The verdicts on runs that exist already."""
    name = f"{comparison.second} against {comparison.first}"
    yield from (_build_case(result.figure.name, name, result) for result in comparison.compared)


def select_cases(cases: Iterable[VerdictCase], verdicts: Iterable[str]) -> tuple[VerdictCase, ...]:
    """The cases with one of these verdicts; a one-sided one may also be inconclusive."""
    wanted = frozenset(verdicts)
    return tuple(case for case in cases if {case.verdict, case.decided} & wanted)


def render_junit(name: str, cases: Sequence[VerdictCase], fail_on: Collection[str]) -> bytes:
    """A test suite with a case for each comparison.

    A verdict in ``fail_on`` is a failure, any other inconclusive one is skipped, and a workload
    that was given up is an error.
    """
    suite = ET.Element("testsuite", name=visible(name), tests=str(len(cases)))
    for case in cases:
        element = ET.SubElement(
            suite, "testcase", classname=visible(case.workload), name=visible(case.name)
        )
        if outcome := _outcome(case, fail_on):
            ET.SubElement(element, outcome, message=visible(case.text))
        ET.SubElement(element, "system-out").text = visible(case.text)
    for outcome, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(total, str(len(suite.findall(f"testcase/{outcome}"))))
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    text: str = ET.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _outcome(case: VerdictCase, fail_on: Collection[str]) -> str:
    if case.reason:
        return "error"
    if case.decided in fail_on:
        return "failure"
    return "skipped" if case.verdict is Verdict.INCONCLUSIVE else ""
