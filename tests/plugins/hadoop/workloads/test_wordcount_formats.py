"""Hadoop counts the same words."""

from __future__ import annotations

from benches import hadoop

from iostudy.workloads import catalog
from iostudy.workloads.workload import Place

TEXT = "na\u00efve \ud55c\uad6d\uc5b4 caf\u00e9\u00a0bar\n\n\ta\x0cb\x0bc\rd\r\ne " + " ".join(
    f"word-number-{number}" for number in range(2000)
)


def test_the_output_is_that_of_hadoop_byte_by_byte(java, distribution, tmp_path):
    text, theirs = tmp_path / "text", tmp_path / "theirs"
    text.write_text(TEXT, encoding="utf-8", newline="")
    definition = catalog.get("wordcount")
    options = {"input": [str(text)], "memory": "2MiB", "reducers": 3}
    definition.make(definition.options.model_validate(options)).run(Place(tmp_path, seed=1))
    examples = hadoop.Examples(java, distribution.classpath)
    examples.run("WordCount", text, theirs, between=tmp_path / "tmp", reduces=3)
    for part in ("part-r-00000", "part-r-00001", "part-r-00002"):
        assert (tmp_path / "words-out" / part).read_bytes() == (theirs / part).read_bytes()
