"""What is run: a file for each workload, whose definition yields schema, docs and help.

Beside them stands what workloads share: their files, folders and programs, and latencies.
"""
