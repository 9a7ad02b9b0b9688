"""Channels: set up by admins, linked by people, written to in transactions, and sent over."""
