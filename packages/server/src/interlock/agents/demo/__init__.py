"""The agent that a fresh server starts with: real tools in one folder, a real model or a scripted one.

Nothing is imported here: `agent.build` is loaded by name, and only then are the large libraries.
"""
