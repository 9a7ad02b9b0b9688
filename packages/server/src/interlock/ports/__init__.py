"""What the core needs of the world, as Protocols. Their docstrings are the contract a backend is held to."""
