from __future__ import annotations

import pytest

from iostudy.errors import UsageError
from iostudy_hadoop.existing.namenodes import Hdfs, NameNode, locate_hdfs

HA = {
    "fs.defaultFS": "hdfs://prod",
    "dfs.nameservices": "prod, other",
    "dfs.ha.namenodes.prod": "nn1,nn2",
    "dfs.namenode.rpc-address.prod.nn1": "a.example:8020",
    "dfs.namenode.rpc-address.prod.nn2": "b.example:9000",
    "dfs.namenode.http-address.prod.nn2": "0.0.0.0:50071",
}


def test_the_default_is_that_of_the_site_files() -> None:
    found = locate_hdfs("hdfs:///bench/", {"fs.defaultFS": "hdfs://nn.example:9000/"}, "conf")
    webs = ("nn.example:9870", "nn.example:50070")
    assert found == Hdfs("hdfs://nn.example:9000/bench", (NameNode("nn.example:9000", webs),))


def test_the_uri_names_another_cluster() -> None:
    found = locate_hdfs("hdfs://nn", {"fs.defaultFS": "file:///"}, "conf")
    assert found.uri == "hdfs://nn"
    assert [each.rpc for each in found.namenodes] == ["nn:8020"]


def test_an_old_name_of_the_property_counts() -> None:
    assert locate_hdfs("hdfs:///", {"fs.default.name": "hdfs://nn:1"}, "conf").uri == "hdfs://nn:1"


def test_the_configured_web_address_is_queried() -> None:
    properties = {"fs.defaultFS": "hdfs://nn:1", "dfs.namenode.http-address": "web.example:7"}
    assert locate_hdfs("hdfs:///", properties, "conf").namenodes[0].webs == ("web.example:7",)


@pytest.mark.parametrize("uri", ["hdfs:///bench", "hdfs://prod/bench"])
def test_a_nameservice_has_several_namenodes(uri: str) -> None:
    found = locate_hdfs(uri, HA, "conf")
    assert found.uri == "hdfs://prod/bench"
    assert [each.rpc for each in found.namenodes] == ["a.example:8020", "b.example:9000"]
    assert found.namenodes[1].webs == ("b.example:50071",)


def test_a_nameservice_of_one_namenode() -> None:
    properties = {
        "fs.defaultFS": "hdfs://ns",
        "dfs.nameservices": "ns",
        "dfs.namenode.rpc-address.ns": "nn:9000",
    }
    assert [each.rpc for each in locate_hdfs("hdfs:///", properties, "conf").namenodes] == [
        "nn:9000"
    ]


def test_a_nameservice_without_addresses_is_refused_with_what_is_missing() -> None:
    properties = {
        key: value for key, value in HA.items() if not key.endswith("rpc-address.prod.nn2")
    }
    with pytest.raises(UsageError, match=r"dfs\.namenode\.rpc-address\.prod\.nn2 is not set"):
        locate_hdfs("hdfs:///", properties, "conf")


@pytest.mark.parametrize("default", [None, "file:///", "viewfs://cluster/", "hdfs:///"])
def test_a_default_that_is_no_hdfs_is_refused(default: str | None) -> None:
    properties = {} if default is None else {"fs.defaultFS": default}
    with pytest.raises(UsageError, match=r"fs\.defaultFS is") as caught:
        locate_hdfs("hdfs:///bench", properties, "/etc/hadoop")
    assert caught.value.where == "/etc/hadoop"
