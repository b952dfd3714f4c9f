"""Circumstances under which a study may be resumed."""

from typing import Any

import pytest

from iostudy.errors import UsageError
from iostudy.execution.session import refuse_other_circumstances
from iostudy.ledger.studies import NODES


def on_kernel(release: str) -> dict[str, Any]:
    return {"host": {"kernel": {"release": release}}}


def test_another_kernel_is_refused():
    refuse_other_circumstances(on_kernel("6.1"), on_kernel("6.1"))
    with pytest.raises(UsageError, match=r"host kernel release was 6.1 and is 6.2"):
        refuse_other_circumstances(on_kernel("6.1"), on_kernel("6.2"))


def test_of_nodes_that_run_together_each_is_compared_with_itself():
    began = {**on_kernel("6.1"), NODES: {"a": on_kernel("6.1"), "b": on_kernel("6.2")}}
    without_first = {**on_kernel("6.2"), NODES: {"b": on_kernel("6.2"), "new": on_kernel("6.3")}}
    refuse_other_circumstances(began, without_first)
    newer = {**began, NODES: {"c": {"versions": {"iostudy": "2"}}}}
    with pytest.raises(UsageError, match=r"(?s)^c.*versions iostudy was None and is 2"):
        refuse_other_circumstances(began, newer)
    changed = {**on_kernel("6.1"), NODES: {"a": on_kernel("6.1"), "b": on_kernel("6.1")}}
    with pytest.raises(UsageError, match=r"(?s)^b.*was 6.2 and is 6.1"):
        refuse_other_circumstances(began, changed)
