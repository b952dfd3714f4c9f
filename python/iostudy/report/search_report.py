"""The report of a search: what its confirmation decided comes first (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.ledger.samples import ReadSamples
from iostudy.ledger.search_result import SearchResult
from iostudy.report import method, next_steps, search, wording
from iostudy.report.answer import quoted
from iostudy.report.build import build
from iostudy.report.comparable import Recorded
from iostudy.report.values.report import Report, State, Step

GO_ON = "--resume goes on with it."


def build_search(
    found: SearchResult,
    confirmed: Recorded | None,
    folder: str = "DIR",
    samples: ReadSamples | None = None,
) -> Report:
    """Verdicts, trials and method are the confirmation's, where there is one.

    Without one, configurations and trials are the search's, and there is no verdict. ``folder`` is
    that of the search, as commands will name it, and ``samples`` reads those of its trials.
    """
    if confirmed is None:
        report = build(found.study, found.row, found.rows, folder, samples, found.given_up)
        report = report.model_copy(update={"headline": _headline(found), "state": _state(found)})
    else:
        own = confirmed
        report = build(own.study, own.row, own.rows, folder, own.samples, own.given_up)
    verdicts = report.answer if confirmed else ()
    decided = confirmed is not None and report.state is State.COMPLETE
    told = {
        "name": found.study.name,
        "question": found.study.question,
        "todo": report.todo if decided else (_step(found, folder),),
        "answer": (*verdicts, *_answer(found, confirmed)),
        "search": search.told(found),
        "notes": tuple(dict.fromkeys((*found.study.notes, *report.notes))),
        "method": report.method.model_copy(update={"text": _method(found, confirmed, report)}),
        "reproduce": method.reproduce(found.study, found.row),
        "study_text": found.row.text,
        "started_at": found.row.started_at,
    }
    return report.model_copy(update=told)


def _state(found: SearchResult) -> State:
    """Without a winner there is nothing to confirm."""
    over = found.outcome is not None and found.outcome.winner is None
    return State.COMPLETE if over else State.STOPPED


def _headline(found: SearchResult) -> str:
    """Without a confirmation: a search decides nothing by itself."""
    if found.outcome is None:
        return "So far, nothing is decided: the search has not ended."
    if found.outcome.winner is None:
        return "Nothing was found to be better: no candidate was ahead of the default."
    return "Nothing is decided yet: what is ahead of the others has not been confirmed."


def _step(found: SearchResult, folder: str) -> Step:
    """What to do as long as no confirmation has ended: the search's own file goes on with both."""
    if found.outcome is not None and found.outcome.winner is None:
        return Step(text="Leave the default as it is.")
    return next_steps.go_on("Go on until the winner is confirmed:", found.study, folder)


def _answer(found: SearchResult, confirmed: Recorded | None) -> Iterator[str]:
    tried = wording.counted(sum(not own.refused for own in found.candidates), "candidate")
    yield from map(wording.given_up, found.given_up)
    if found.outcome is None:
        yield f"The search has tried {tried} and has not ended; {GO_ON}"
    elif found.outcome.winner is None:
        yield f"None of {tried} was ahead of the default at the end of the search: keep it."
    elif confirmed is None:
        ahead = quoted(found.outcome.winner)
        yield f"Of {tried}, {ahead} is ahead; its confirmation has not begun: {GO_ON}"
    else:
        yield (
            f"{quoted(found.outcome.winner)} was ahead of {tried} in the search; "
            "the verdict is of fresh blocks."
        )


def _method(found: SearchResult, confirmed: Recorded | None, report: Report) -> str:
    text = method.of_search(found)
    return f"{text} {report.method.text}" if confirmed else text
