"""Tests of ResourceManager addresses read from yarn-site.xml."""

from __future__ import annotations

import pytest

from iostudy_hadoop.existing.resourcemanagers import addresses

HA = {"yarn.resourcemanager.ha.enabled": "true", "yarn.resourcemanager.ha.rm-ids": "rm1, rm2"}


@pytest.mark.parametrize(
    ("properties", "found"),
    [
        ({}, ("0.0.0.0:8032",)),
        ({"yarn.resourcemanager.hostname": "master"}, ("master:8032",)),
        ({"yarn.resourcemanager.address": "master:8050"}, ("master:8050",)),
        ({"yarn.resourcemanager.address": "master"}, ("master:8032",)),
        (
            {
                **HA,
                "yarn.resourcemanager.hostname.rm1": "one",
                "yarn.resourcemanager.address.rm2": "two:8050",
            },
            ("one:8032", "two:8050"),
        ),
        (
            {
                **HA,
                "yarn.resourcemanager.ha.enabled": "false",
                "yarn.resourcemanager.hostname": "a",
            },
            ("a:8032",),
        ),
    ],
)
def test_resourcemanagers_are_named_as_in_yarn_site(
    properties: dict[str, str], found: tuple[str, ...]
) -> None:
    assert addresses(properties) == found
