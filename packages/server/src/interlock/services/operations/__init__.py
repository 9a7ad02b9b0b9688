"""What operators need: backups, housekeeping, measures."""
