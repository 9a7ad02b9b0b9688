"""Real servers for the tests, started on this machine from packages on PyPI."""
