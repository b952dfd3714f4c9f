"""Judgement of a node's facts: what it lacks for a study, and how to supply it (pure)."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from iostudy.errors import UsageError
from iostudy.fleet.deployment.probe import PACKAGES

_REQUIREMENT = "iostudy[fleet]"


class StudyCheck(BaseModel):
    """Result of `iostudy check` on a node."""

    model_config = ConfigDict(frozen=True)

    code: int
    output: str
    error: str

    def warnings(self) -> tuple[str, ...]:
        """The warnings of its document; none if there is no document."""
        try:
            return _WARNINGS.validate_python(json.loads(self.output)["warnings"])
        except (ValueError, KeyError, TypeError):
            return ()


class NodeFacts(BaseModel):
    """What `probe` found on a node."""

    model_config = ConfigDict(frozen=True)

    host: str
    python: str
    executable: str
    root: bool
    versions: dict[str, str | None]
    check: StudyCheck | None


_WARNINGS = TypeAdapter(tuple[str, ...])


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


@dataclass(frozen=True)
class Versions:
    """The versions that every node must have."""

    python: str
    packages: Mapping[str, str]

    @classmethod
    def of_controller(cls) -> Versions:
        """Those of this process."""
        return cls(platform.python_version(), {name: version(name) for name in PACKAGES})

    @property
    def requirement(self) -> str:
        """The requirement that pip installs."""
        return f"{_REQUIREMENT}=={self.packages['iostudy']}"


def read_facts(content: Any) -> NodeFacts | None:
    """The facts that a node sent; None if that is something else."""
    try:
        return NodeFacts.model_validate(content)
    except ValidationError:
        return None


def unreachable(node: str, found: str, remedy: str) -> Readiness:
    """The readiness of a node that gave no facts."""
    return Readiness(node, None, (Problem(found, remedy),))


def judge(
    found: Mapping[str, NodeFacts | Readiness],
    versions: Versions,
    install: Callable[[str, str], str],
    *,
    needs_root: bool,
) -> tuple[Readiness, ...]:
    """Compare the facts of all nodes with what the study needs.

    ``install`` is the line that installs a requirement on a node. ``needs_root``: the study has
    nothing to ask without root. If it has, one node of root makes root necessary on all.
    """
    root = needs_root or any(isinstance(own, NodeFacts) and own.root for own in found.values())
    return tuple(
        own
        if isinstance(own, Readiness)
        else Readiness(
            node,
            own,
            (
                *_version_problems(own, versions, install(node, versions.requirement)),
                *_user_problems(own, root=root),
                *_check_problems(own),
            ),
        )
        for node, own in found.items()
    )


def require_ready(found: Sequence[Readiness]) -> None:
    """UsageError with every problem of every node."""
    lines = [
        f"{own.node}: {problem.found}; {problem.remedy}"
        for own in found
        for problem in own.problems
    ]
    if lines:
        raise UsageError(
            "nodes that can run the study",
            found="".join(f"\n    {line}" for line in lines),
            where="the fleet",
            remedy="as the lines above say, or leave these nodes out",
        )


def _version_problems(facts: NodeFacts, versions: Versions, install: str) -> Iterator[Problem]:
    ours, theirs = _minor(versions.python), _minor(facts.python)
    if ours != theirs:
        yield Problem(
            f"Python {facts.python} in {facts.executable}, and {versions.python} here",
            f"install Python {ours} there, and in it: {install}",
        )
    for package, wanted in versions.packages.items():
        found = facts.versions.get(package)
        if found != wanted:
            there = f"{package} {found}" if found else f"no {package}"
            yield Problem(f"{there}, and {wanted} here", install)


def _user_problems(facts: NodeFacts, *, root: bool) -> Iterator[Problem]:
    if root and not facts.root:
        yield Problem(
            "not root, which the study needs", "use --sudo, ansible_become or a worker of root"
        )


def _check_problems(facts: NodeFacts) -> Iterator[Problem]:
    if facts.check is not None and facts.check.code:
        text = " ".join(facts.check.error.split())
        yield Problem(f"the study is refused: {text}", "correct it, or leave the node out")


def _minor(python: str) -> str:
    return ".".join(python.split(".")[:2])
