"""Generated pages and schemas are what their generators return."""

import pytest
from tools.docs.documents import DOCUMENTS, ROOT


@pytest.mark.parametrize("path", DOCUMENTS)
def test_generated_pages_are_current(path):
    assert (ROOT / path).read_text("utf-8") == DOCUMENTS[path](), "`make docs` writes it"
