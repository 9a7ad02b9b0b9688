"""Who may come in: accounts, people, keys and sign-ins."""
