"""Published figures that a report shows next to the user's own.

They are facts about another machine at another time. No verdict, no check and no test rests on
them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import Field, FiniteFloat, PositiveFloat, PositiveInt

from iostudy.study.fields import StudySection
from iostudy.study.model import WorkloadRequest
from iostudy.study.names import UnknownNameError
from iostudy.study.source import read

FOLDER = Path(__file__).parent.parent / "references"


class PublishedValue(StudySection):
    """A published value of a figure."""

    configuration: str
    """Published name of the configuration."""
    workload: str
    """Label of the workload."""
    figure: str
    """Name of the figure."""
    unit: str
    """Published unit."""
    value: FiniteFloat
    """Published value."""


class PublishedFigure(PublishedValue):
    """A figure of a workload, by iostudy's names, in the unit it was published in.

    ``runs`` is how many runs it is of, ``load`` at which level of the publication's load they were,
    if it has one. ``own`` is iostudy's figure that gives it if multiplied by ``times``, where a
    workload has no figure of the same name and meaning.
    """

    runs: PositiveInt = 1
    load: PositiveFloat | None = None
    own: str = ""
    times: PositiveFloat = 1

    def is_of(self, workload: WorkloadRequest) -> bool:
        """Whether it was published of this workload of a study; the load does not count."""
        return self.workload in (workload.label, workload.listed_as, workload.name)

    def is_modelled(self, workload: WorkloadRequest) -> bool:
        """Whether a study runs the program itself (``hadoop.NAME``) that the workload models."""
        _, dot, name = workload.name.partition(".")
        return bool(dot) and name == self.workload and not self.is_of(workload)


class PublishedOrder(StudySection):
    """A published ranking over several workloads, the best first."""

    where: str
    """Conditions of the ranking."""
    order: tuple[str, ...]
    """Names of the configurations, the best first."""


class PublishedItem(StudySection):
    """An experiment or question of a publication, and the studies that repeat it.

    ``studies`` are ready-made ones, the best first: the next ones take its place on a host that
    cannot run it. Without any, ``why_not`` says why. What answers the item is the part of the
    report that ``section`` names, own ``figures`` of the baseline, or the verdicts of some
    ``configurations``; by default the headline. ``workload`` names the only one that counts.
    """

    item: str
    studies: tuple[str, ...] = ()
    section: Literal["", "limits", "volume"] = ""
    figures: tuple[str, ...] = ()
    configurations: tuple[str, ...] = ()
    workload: str = ""
    why_not: str = ""


class Citation(StudySection):
    """A publication and what has to be known to read its figures."""

    title: str
    """Title of the publication."""
    kind: str
    """Kind of publication, such as ``blog post``."""
    year: int
    """Year of publication."""
    source: str
    """Where it was published, and by whom."""
    circumstances: tuple[str, ...]
    """Published conditions of its measurements."""
    caveats: tuple[str, ...]
    """Limits of its figures."""
    open_questions: tuple[str, ...]
    """Questions that it leaves open."""
    baseline: str
    """Published name of the baseline."""


class Publication(Citation):
    """A report that others have published, with its figures.

    Others are compared with the baseline, each at its own load. ``load`` is the option of the
    workloads whose levels these are, if there are any. ``counterparts`` are the labels that a
    study of today may have for configurations and workloads that are called otherwise now, or that
    it cannot have.
    """

    load: str = ""
    counterparts: dict[str, str] = Field(default_factory=dict)
    orders: tuple[PublishedOrder, ...] = ()
    items: tuple[PublishedItem, ...] = ()
    figures: tuple[PublishedFigure, ...]

    def baseline_value(self, figure: PublishedFigure) -> float | None:
        """Return the same figure of the baseline, or None."""
        return next(
            (
                other.value
                for other in self.figures
                if (other.configuration, other.workload, other.figure, other.load)
                == (self.baseline, figure.workload, figure.figure, figure.load)
            ),
            None,
        )


def names() -> tuple[str, ...]:
    """The names of all publications."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


def require_name(value: str) -> str:
    """The name itself; UnknownNameError if no publication has it."""
    if value not in names():
        raise UnknownNameError("reference", value, names())
    return value


@cache
def get(name: str) -> Publication:
    """The publication of that name, one of `names`."""
    path = FOLDER / f"{name}.yaml"
    source = read(path.read_text(encoding="utf-8"), str(path))
    return Publication.model_validate(dict(source.values))
