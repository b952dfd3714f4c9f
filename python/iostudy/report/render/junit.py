"""JUnit XML of verdicts, for the test reports of continuous integration.

Elements and attributes of the schema of Jenkins' xUnit plugin that GitLab and GitHub Actions read:
testsuite, testcase, failure, error and skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from xml.etree import ElementTree as ET

from iostudy.analysis.verdict import Verdict
from iostudy.report.verdict_cases import VerdictCase
from iostudy.visible import visible


def render(name: str, cases: Sequence[VerdictCase], fail_on: Collection[str]) -> bytes:
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
    if case.verdict.two_sided in fail_on:
        return "failure"
    return "skipped" if case.verdict is Verdict.INCONCLUSIVE else ""
