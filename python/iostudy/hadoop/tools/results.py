"""What the results of all tools have in common."""


class NoResultError(Exception):
    """What a tool has printed is no result; the text says what is missing."""
