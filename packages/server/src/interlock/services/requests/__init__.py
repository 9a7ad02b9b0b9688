"""Requests of people: opened, shown, answered, settled, and what later asks are answered with."""
