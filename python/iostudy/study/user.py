"""A study as its user can run it: what needs root is replaced, or refused."""

from __future__ import annotations

from iostudy.errors import UsageError
from iostudy.study.model import DirectoryTarget, FactorKind, Study


def for_user(study: Study, *, root: bool) -> Study:
    """The study as this user can run it; UsageError where only root can."""
    if root:
        return study
    study = study.without_root()
    needs_root = [f"change {f.name}" for f in study.factors if f.kind is FactorKind.SETTING]
    if not isinstance(study.target, DirectoryTarget):
        needs_root.append(f"make {study.target.describe()}")
    if needs_root:
        raise UsageError(
            f"to {' and '.join(needs_root)}",
            found="you are not root",
            where=study.name,
            remedy="run it as root, or give the file a without_root: section "
            "whose factors are workload options, and whose target is a directory",
        )
    return study
