"""End of a test run: counts by kind of test, skipped tests, and a second try of host tests.

A test of the host may fail because of what else the machine does. With ``--retry-alone`` it runs
once more when all others have ended. The run passes if it passes then, and names it as flaky with
its first failure. Unit tests are not tried again, and more than `MOST_FLAKY` failures stand.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Protocol

import pytest

MOST_FLAKY = 2
_OUTCOMES = ("passed", "failed", "error", "flaky", "skipped")


class _Statistics(Protocol):
    """The terminal reporter of pytest."""

    stats: dict[str, list[pytest.TestReport]]

    def section(self, title: str) -> None: ...
    def write_line(self, line: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--retry-alone``."""
    parser.addoption(
        "--retry-alone",
        action="store_true",
        help=f"run up to {MOST_FLAKY} failed host tests once more at the end, alone",
    )


@pytest.hookimpl(trylast=True)  # when the workers have ended
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Run the failed host tests once more; those that pass are flaky, and no failures."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not session.config.option.retry_alone or exitstatus != pytest.ExitCode.TESTS_FAILED:
        return
    failures = [*reporter.stats.get("failed", []), *reporter.stats.get("error", [])]
    if not _may_be_flaky(failures) or not _pass_alone(failures, session.config.rootpath):
        return
    for outcome in ("failed", "error"):
        reporter.stats.pop(outcome, None)
    reporter.stats["flaky"] = failures
    session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: _Statistics) -> None:
    """Write the counts of each kind of test, and why tests were left out."""
    stats = terminalreporter.stats
    flaky = stats.get("flaky", [])
    for report in flaky:
        terminalreporter.section(f"flaky: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    counts: dict[str, Counter[str]] = {"unit tests": Counter(), "host tests": Counter()}
    for outcome in _OUTCOMES:
        for report in stats.get(outcome, []):
            if isinstance(report, pytest.TestReport):
                counts["unit tests" if _is_unit(report) else "host tests"][outcome] += 1
    terminalreporter.section("counts")
    for kind, outcomes in counts.items():
        if outcomes:
            text = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
            terminalreporter.write_line(f"{kind}: {text}")
    reasons = Counter(_skip_reason(report) for report in stats.get("skipped", []))
    if reasons:
        text = ", ".join(f"{number} ({reason})" for reason, number in reasons.most_common())
        terminalreporter.write_line(f"left out: {text}")
    if flaky:
        names = ", ".join(f"{each.nodeid} ({_first_failure(each)})" for each in flaky)
        terminalreporter.write_line(f"flaky, passed alone: {names}")


def _may_be_flaky(failures: list[pytest.TestReport]) -> bool:
    """Whether all are tests of the host, and few."""
    is_host = (isinstance(each, pytest.TestReport) and not _is_unit(each) for each in failures)
    return len({each.nodeid for each in failures}) <= MOST_FLAKY and all(is_host)


def _pass_alone(failures: list[pytest.TestReport], folder: Path) -> bool:
    nodes = sorted({each.nodeid for each in failures})
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *nodes]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


def _is_unit(report: pytest.TestReport) -> bool:
    return "unit" in report.keywords


def _skip_reason(report: pytest.TestReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def _first_failure(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message.splitlines()[0] if crash and crash.message else report.when or ""
