"""Common parts of the output parsers."""


class NoResultError(Exception):
    """What a tool has printed is no result; the text says what is missing."""
