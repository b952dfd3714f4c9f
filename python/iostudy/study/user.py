"""A study as its user can run it: what needs root is replaced, or refused."""

from __future__ import annotations

from iostudy.errors import UsageError
from iostudy.study.model import FactorKind, Study


def for_user(study: Study, *, root: bool) -> Study:
    """The study as this user can run it; UsageError where only root can."""
    if root:
        return study
    study = study.without_root()
    settings = [f.name for f in study.factors if f.kind is FactorKind.SETTING]
    if settings:
        raise UsageError(
            f"to change {', '.join(settings)}",
            found="you are not root",
            where=study.name,
            remedy="run it as root, or give the file a without_root: section "
            "whose factors are workload options",
        )
    return study
