"""Judgement of a node's facts: what it lacks for a study, and how to supply it (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from iostudy.errors import UsageError


class _CheckDocument(BaseModel):
    """The part of `iostudy check --json` that concerns a fleet."""

    warnings: tuple[str, ...]


class StudyCheck(BaseModel):
    """Result of `iostudy check` on a node."""

    model_config = ConfigDict(frozen=True)

    code: int
    output: str
    error: str

    def warnings(self) -> tuple[str, ...]:
        """The warnings of its document; none if there is no document."""
        try:
            return _CheckDocument.model_validate_json(self.output).warnings
        except ValidationError:
            return ()


class NodeFacts(BaseModel):
    """What `probe` found on a node."""

    model_config = ConfigDict(frozen=True)

    host: str
    python: str
    executable: str
    root: bool
    version: str | None
    check: StudyCheck | None


@dataclass(frozen=True)
class Problem:
    """What a node lacks, and the remedy."""

    found: str
    remedy: str


@dataclass(frozen=True)
class Readiness:
    """A node with its facts, if it could be reached, and its problems."""

    node: str
    facts: NodeFacts | None
    problems: tuple[Problem, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the study's check there."""
        return self.facts.check.warnings() if self.facts and self.facts.check else ()


def read_facts(content: str) -> NodeFacts | None:
    """The facts that a node sent; None if that is something else."""
    try:
        return NodeFacts.model_validate_json(content)
    except ValidationError:
        return None


def unreachable(node: str, found: str, remedy: str) -> Readiness:
    """The readiness of a node that gave no facts."""
    return Readiness(node, None, (Problem(found, remedy),))


def judge(
    answers: Mapping[str, NodeFacts | Readiness],
    version: str,
    install: Callable[[str, str], str],
    *,
    needs_root: bool,
) -> tuple[Readiness, ...]:
    """Compare the facts of all nodes with what the study needs.

    ``version`` is that of iostudy here. ``install`` is the line that installs a requirement on a
    node. ``needs_root``: the study has nothing to ask without root. If it has, one node of root
    makes root necessary on all.
    """
    root = needs_root or any(
        isinstance(facts, NodeFacts) and facts.root for facts in answers.values()
    )
    return tuple(
        facts
        if isinstance(facts, Readiness)
        else Readiness(
            node,
            facts,
            (
                *_version_problems(facts, version, install(node, f"iostudy[fleet]=={version}")),
                *_user_problems(facts, root=root),
                *_check_problems(facts),
            ),
        )
        for node, facts in answers.items()
    )


def require_ready(nodes: Sequence[Readiness]) -> None:
    """UsageError with every problem of every node."""
    lines = [
        f"{readiness.node}: {problem.found}; {problem.remedy}"
        for readiness in nodes
        for problem in readiness.problems
    ]
    if lines:
        raise UsageError(
            "nodes that can run the study",
            found="".join(f"\n    {line}" for line in lines),
            where="the fleet",
            remedy="as the lines above say, or leave these nodes out",
        )


def _version_problems(facts: NodeFacts, version: str, install: str) -> Iterator[Problem]:
    if facts.version != version:
        there = (
            f"iostudy {facts.version}"
            if facts.version
            else f"no iostudy-fleet in {facts.executable}"
        )
        yield Problem(f"{there}, and {version} here", install)


def _user_problems(facts: NodeFacts, *, root: bool) -> Iterator[Problem]:
    if root and not facts.root:
        yield Problem(
            "not root, which the study needs", "use --sudo or ansible_become, or connect as root"
        )


def _check_problems(facts: NodeFacts) -> Iterator[Problem]:
    if facts.check is not None and facts.check.code:
        text = " ".join(facts.check.error.split())
        yield Problem(f"the study is refused: {text}", "correct it, or leave the node out")
