"""Common parts of the output parsers."""


class NoResultError(Exception):
    """The output of a tool has no result; the text names what is missing."""
