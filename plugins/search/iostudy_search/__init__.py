"""Searches for a configuration that is better than the default, and screenings of factors."""

from __future__ import annotations

from iostudy.plugins import Plugin

PLUGIN = Plugin(
    "search",
    sections={
        "search": "iostudy_search.section:KEY",
        "design": "iostudy_search.screening.design:KEY",
    },
    topics={
        "search": "iostudy_search.topic:TOPIC",
        "screening": "iostudy_search.screening.topic:TOPIC",
    },
)
