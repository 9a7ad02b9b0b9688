"""Policies: saved, activated, and asked before a person is."""
