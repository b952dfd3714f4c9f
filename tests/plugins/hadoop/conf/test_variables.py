from __future__ import annotations

import pytest

from iostudy_hadoop.conf.variables import resolve_variables


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        ("hdfs://${host}:${port}", "hdfs://nn:8020"),
        ("${both}/x", "nn:8020/x"),
        ("${user.name}", "${user.name}"),
        ("${env.HOME}/x", "/home/me/x"),
        ("${env.NONE}", "${env.NONE}"),
        ("${env.NONE-a:b}", "a:b"),
        ("${env.EMPTY-x}", ""),
        ("${env.EMPTY:-x}", "x"),
        ("$host ${ }", "$host ${ }"),
    ],
)
def test_variables_are_replaced_as_hadoop_does(value: str, expected: str) -> None:
    properties = {"host": "nn", "port": "8020", "both": "${host}:${port}", "resolved": value}
    assert resolve_variables(properties, {"HOME": "/home/me", "EMPTY": ""})["resolved"] == expected


def test_variables_that_name_each_other_come_to_an_end() -> None:
    assert "${" in resolve_variables({"a": "${b}", "b": "${a}"}, {})["a"]
