"""Workloads that run other programs: fio job files and any command."""
