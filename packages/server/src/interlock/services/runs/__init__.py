"""Runs of agents: claimed, recorded, ended, and the workers that run them."""
