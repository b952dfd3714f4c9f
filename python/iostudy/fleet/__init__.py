"""One study on many nodes: where they are, the study on each, and the two designs."""
