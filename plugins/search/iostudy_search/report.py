"""Report of a search, with the verdict of its confirmation first (pure)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from iostudy.cli.report_output import read_recorded
from iostudy.ledger.samples import ReadSamples, read_samples
from iostudy.ledger.studies import find_confirmation
from iostudy.report.base import State, Step
from iostudy.report.build import build_report
from iostudy.report.formatting import describe_given_up, format_count, quote_label
from iostudy.report.topics.method import list_reproduction_steps
from iostudy.report.topics.next_steps import suggest_resume
from iostudy.report.values import Report
from iostudy.results.recorded_study import RecordedStudy
from iostudy.units import format_seconds
from iostudy_search.result import SearchResult, read_search
from iostudy_search.search import SLOTS, require_search
from iostudy_search.state import build_policy
from iostudy_search.topic import build_search

RESUME_HINT = "--resume continues it."


def read_search_report(folder: Path, reference: str | None) -> Report:
    """Build the report of the search in an output folder, compared with ``reference`` if given."""
    result, confirmed = read_search(folder), find_confirmation(folder)
    study = replace(result.study, reference=reference or result.study.reference)
    return build_search_report(
        replace(result, study=study),
        None if confirmed is None else read_recorded(confirmed, reference),
        str(folder.absolute()),
        partial(read_samples, folder),
    )


def build_search_report(
    result: SearchResult,
    confirmed: RecordedStudy | None,
    folder: str = "DIR",
    samples: ReadSamples | None = None,
) -> Report:
    """Verdicts, trials and method are the confirmation's, where there is one.

    Without one, configurations and trials are the search's, and there is no verdict. ``folder`` is
    that of the search, as commands will name it, and ``samples`` reads those of its trials.
    """
    if confirmed is None:
        searched = RecordedStudy(
            folder, result.study, result.row, result.rows, samples, result.given_up
        )
        report = build_report(searched)
        report = report.model_copy(update={"headline": _headline(result), "state": _state(result)})
    else:
        report = build_report(replace(confirmed, place=folder))
    verdicts = report.answer if confirmed else ()
    decided = confirmed is not None and report.state is State.COMPLETE
    text = {
        "name": result.study.name,
        "question": result.study.question,
        "next_steps": report.next_steps if decided else (_step(result, folder),),
        "answer": (*verdicts, *_answer(result, confirmed)),
        "search": build_search(result),
        "notes": tuple(dict.fromkeys((*result.study.notes, *report.notes))),
        "method": report.method.model_copy(update={"text": _method(result, confirmed, report)}),
        "reproduce": list_reproduction_steps(result.study, result.row),
        "study_text": result.row.text,
        "started_at": result.row.started_at,
    }
    return report.model_copy(update=text)


def _state(result: SearchResult) -> State:
    """Return the state; without a winner nothing is confirmed."""
    over = result.outcome is not None and result.outcome.winner is None
    return State.COMPLETE if over else State.STOPPED


def _headline(result: SearchResult) -> str:
    """Return the headline without a confirmation: a search decides nothing by itself."""
    if result.outcome is None:
        return "No verdict yet: the search has not ended."
    if result.outcome.winner is None and result.unqualified is not None:
        return "No candidate won the search, although one was ahead of the default."
    if result.outcome.winner is None:
        return "No candidate was better than the default in the search."
    return "No verdict yet: the best candidate has not been confirmed."


def _step(result: SearchResult, folder: str) -> Step:
    """Return the step before a confirmation: resume the search."""
    if result.outcome is None or result.outcome.winner is not None:
        return suggest_resume("Resume until the winner is confirmed", result.study, folder)
    if result.unqualified is None or result.study.target.predicts:
        return Step(text="Keep the default.")
    label, _ = result.unqualified
    return Step(
        text="Keep the default, or confirm the candidate in a study that compares the two. Show "
        "its values as configuration files:",
        command=shlex.join(["iostudy", "persist", folder, "--configuration", label]),
    )


def _answer(result: SearchResult, confirmed: RecordedStudy | None) -> Iterator[str]:
    tried = format_count(sum(not candidate.refused for candidate in result.candidates), "candidate")
    yield from map(describe_given_up, result.given_up)
    if result.outcome is None:
        if result.time_limit_seconds is not None:
            limit = format_seconds(result.time_limit_seconds)
            yield f"The search reached its time limit of {limit}."
        yield f"The search has tried {tried} and has not ended; {RESUME_HINT}"
    elif result.outcome.winner is None and result.unqualified is not None:
        label, reason = result.unqualified
        yield f"Of {tried}, {quote_label(label)} was ahead of the default, but {reason}."
    elif result.outcome.winner is None:
        yield f"None of {tried} was better than the default at the end of the search."
    elif confirmed is None:
        ahead = quote_label(result.outcome.winner)
        yield f"Of {tried}, {ahead} is the best; its confirmation has not started: {RESUME_HINT}"
    else:
        yield (
            f"{quote_label(result.outcome.winner)} was the best of {tried} in the search; "
            "the verdict comes from fresh blocks."
        )


def _method(result: SearchResult, confirmed: RecordedStudy | None, report: Report) -> str:
    text = _describe_method(result)
    return f"{text} {report.method.text}" if confirmed else text


def _describe_method(result: SearchResult) -> str:
    """Describe how a search found its winner, and why that is no verdict."""
    search = require_search(result.study)
    *but, last = (str(rung) for rung in build_policy(search).rungs)
    return (
        f"Every round of the search runs each workload under the default and up to {SLOTS} "
        f"candidates, in a new random order from seed {result.row.seed}, for {search.budget} at "
        "most. Known points come first, then a Latin hypercube, then what a tree-structured Parzen "
        f"estimator proposes from all results. After {', '.join(but)} and {last} rounds a "
        "candidate that is clearly worse than the best is dropped. The search gives no verdict, "
        "because the best of many candidates was also lucky (selection bias): the winner is "
        "compared with the default again, in fresh blocks with another seed."
    )
