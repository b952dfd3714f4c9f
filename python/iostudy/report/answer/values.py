"""Answer of a study on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iostudy.report.topics.verdicts.figure_verdicts import FigureVerdicts
from iostudy.report.values import State, Step


@dataclass(frozen=True)
class Answer:
    """Answer of a study: sentence, verdicts, reasons and next steps.

    - ``noun``: the varied factor in one word
    - ``is_decided``: every comparison has a verdict
    - ``seconds``: time of all trials and windows
    - ``margin``: equivalence margin, as a fraction
    - ``reasons``: why comparisons have no verdict; empty if all have one
    - ``next_steps``: in order; each command works where the answer is printed
    - ``report``: path of the HTML report; empty without one
    """

    question: str
    sentence: str
    noun: str
    state: State
    is_decided: bool
    seconds: float
    margin: float
    tables: Sequence[FigureVerdicts]
    reasons: Sequence[str]
    next_steps: Sequence[Step]
    report: str
