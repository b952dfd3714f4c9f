"""What is run: one file per workload, each one definition that yields schema, docs and help."""
