"""What the faces share on HTTP: credentials, guards, errors, languages and event streams."""
