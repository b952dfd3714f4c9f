"""Workload definitions, one module each; a definition yields schema, docs and help.

Beside them stands what workloads share: their files, folders and programs, and latencies.
"""
