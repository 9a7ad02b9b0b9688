"""Coding agents ask a person: what `interlock-hook` does when an agent starts it before a tool runs.

It imports the standard library only, as it may run on every call of a tool.
"""
