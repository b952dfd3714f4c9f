"""What is wrong with a host's storage: facts gathered once, and rules that judge them.

A rule is a pure function from facts to findings, one file per domain; `registry` knows them all.
"""
