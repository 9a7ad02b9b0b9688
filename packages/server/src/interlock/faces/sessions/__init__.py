"""The sessions face: invoke and wait, resume, status; one session per user."""
