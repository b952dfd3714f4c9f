"""Builds the study file that compares the winner of a search with the default."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from iostudy.study.combinations import NamedConfiguration
from iostudy.study.model import Study
from iostudy.study.plan import SEED_BITS
from iostudy.study.source import plain, read, write
from iostudy_search.search import CONFLICTING_KEYS, DEFAULT, DEFAULT_ONLY

_REPLACED = ("search", *CONFLICTING_KEYS, "without_root", "seed")


def build_confirmation(study: Study, winner: str, seed: int, folder: Path) -> str:
    """The text of the study that confirms the winner of a search, whole and on its own.

    ``study`` is the search with its candidates, ``seed`` the one it began with, ``folder`` where
    the confirmation writes to. What decides is what the search's file says; the seed is another
    one, so that orders and data are fresh.
    """
    original = plain(read(study.text, study.name).values)
    values = {key: value for key, value in original.items() if key not in _REPLACED}
    values["question"] = study.question
    values["target"] = study.target.rewritten(original["target"], str(folder.absolute()))
    varied = _levels(study, winner)
    values["factors"] = {name: _factor(study, name, levels) for name, levels in varied.items()}
    searched = {name: levels[-1] for name, levels in varied.items() if len(levels) > 1}
    values["configurations"] = {DEFAULT: {}, winner: searched}
    values["seed"] = _fresh(seed)
    return f"{_head(study, winner)}{write(values)}"


def preview_confirmation(study: Study) -> Study:
    """Return the confirmation of a search whose winner is unknown.

    The winner has no values yet: the preview has numbers only.
    """
    return replace(study, design=None, chosen=(*DEFAULT_ONLY, NamedConfiguration("the winner", {})))


def _levels(study: Study, winner: str) -> dict[str, list[str]]:
    """The default's level and the winner's of each factor that the winner has; one if equal."""
    configuration = next(
        candidate for candidate in study.configurations() if candidate.label == winner
    )
    options = {f"workload.{name}": value for name, value in configuration.options.items()}
    levels = {**configuration.settings, **options}
    return {
        factor.name: list(dict.fromkeys((factor.levels[0].value, levels[factor.name])))
        for factor in study.factors
        if factor.name in levels
    }


def _factor(study: Study, name: str, levels: list[str]) -> list[str] | dict[str, list[str]]:
    factor = next(candidate for candidate in study.factors if candidate.name == name)
    return {"levels": levels, "on": list(factor.on)} if factor.on else levels


def _head(study: Study, winner: str) -> str:
    comment = f"# Made by iostudy: the winner of the search {study.name} against the default.\n"
    return f"{comment}# {winner} led the search; this study measures its effect.\n"


def _fresh(seed: int) -> int:
    """Another seed, the same for the same search."""
    digest = hashlib.sha256(f"confirmation of {seed}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> (64 - SEED_BITS)
