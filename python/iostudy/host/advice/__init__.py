"""Storage advice: rules that evaluate facts about the host.

A rule is a pure function from facts to findings, one file per domain; `registry` knows them all.
"""
