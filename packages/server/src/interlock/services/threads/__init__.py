"""Conversations: made, written to, followed, exported and removed."""
