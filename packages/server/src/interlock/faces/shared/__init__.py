"""What several faces share beyond HTTP: the words of people, turned into those of the core."""
