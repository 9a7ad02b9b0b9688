"""Webhooks: made, written to in transactions, and sent."""
