"""Escaping of control and bidirectional characters in text from outside."""

from __future__ import annotations

import unicodedata


def visible(text: str, keep: str = "") -> str:
    r"""The text with control characters as escapes (``\x1b``), but for those to ``keep``.

    So are format characters, which can turn the order of what is read around, line separators, and
    the halves of characters that a file name may hold.
    """
    if text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode("ascii")
        if c not in keep and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else c
        for c in text
    )
