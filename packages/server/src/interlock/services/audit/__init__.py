"""The audit trail: read, checked and exported."""
