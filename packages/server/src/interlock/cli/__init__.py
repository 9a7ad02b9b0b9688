"""What the server's package adds to the `interlock` command; pyproject.toml names each as an entry point.

Each command imports what it needs when it runs, so that the light ones are quick.
"""
