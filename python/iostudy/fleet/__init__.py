"""One study on many nodes: deployment, supervision with a lease, and transfer of results."""
