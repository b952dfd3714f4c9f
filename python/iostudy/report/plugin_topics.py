"""Topics of the report that plugins add: a field of report.json and a section."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from iostudy import plugins
from iostudy.core import registered
from iostudy.ledger.rows import TrialRow
from iostudy.report.base import EffectReport, Value
from iostudy.report.section import Section
from iostudy.study.model import Study
from iostudy.telemetry.summary import TelemetrySummary


class TopicValue(Value, ABC):
    """What a topic has on a study."""

    leads: ClassVar[bool] = True
    """Whether its section is before the curves and the ranking; otherwise after the directories."""

    def find_headline(self) -> str:
        """Return the answer of the study in one sentence; empty if the verdicts give it."""
        return ""

    def qualify_headline(self, text: str) -> str:
        """Return the first sentence with what the reader has to know first."""
        return text

    def explain(self) -> str:
        """Return what the reader has to know of all figures; empty for measured ones."""
        return ""

    def describe_error(self, configuration: str) -> str:
        """Return how far a predicted figure may be wrong; empty for a measured one."""
        return ""

    def list_effects(self) -> tuple[EffectReport, ...]:
        """Return the verdicts on levels of factors."""
        return ()

    @abstractmethod
    def build_section(self, *, factor: str, risk: float, several: bool) -> Section:
        """Return the section; ``several``: the study has several workloads.

        ``factor`` is the report's: what names a level, or empty.
        """


@dataclass(frozen=True)
class Topic:
    """The type of a topic's value, what report.json says of it, and its computation.

    ``compute`` returns None for a study without the topic. ``describe`` returns a note on the
    telemetry of all counted trials; empty for none.
    """

    value: type[TopicValue]
    documentation: str
    compute: Callable[[Study, Sequence[TrialRow]], TopicValue | None]
    describe: Callable[[Iterable[TelemetrySummary]], str] = lambda _: ""


@cache
def list_topics() -> Mapping[str, Topic]:
    """Return the topics of plugins by their fields in report.json."""
    topics_of_plugins = (plugin.topics.items() for plugin in registered())
    return {name: plugins.load(ref) for topics in topics_of_plugins for name, ref in topics}
