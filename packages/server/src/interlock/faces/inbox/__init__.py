"""What the web inbox is made of: sign-in by cookie, the list, one request in full, answers bound to what was shown."""
