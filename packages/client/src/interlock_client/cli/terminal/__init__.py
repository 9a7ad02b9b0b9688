"""Answering from a terminal: what is asked, shown as it is, and answered with care."""
