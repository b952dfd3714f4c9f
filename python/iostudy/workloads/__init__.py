"""Workload definitions, one module each; a definition yields schema, docs and help.

The package also has what workloads share: files, folders, programs and latencies.
"""
