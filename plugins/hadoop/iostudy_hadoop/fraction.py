"""Decimal numbers as values of settings."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fraction:
    """A decimal number from ``minimum`` to ``maximum``: ``0.05``."""

    minimum: float = 0.0
    maximum: float = 1.0
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """The range, in words."""
        return f"{self.minimum:g} to {self.maximum:g}"

    def parse(self, text: str) -> str:
        """Return the shortest form of the number."""
        value = text.strip()
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value, re.ASCII):
            raise ValueError(f"not a number such as 0.05; allowed: {self.allowed}")
        if not self.minimum <= float(value) <= self.maximum:
            raise ValueError(f"out of range; allowed: {self.allowed}")
        return f"{float(value):.9f}".rstrip("0").rstrip(".")
