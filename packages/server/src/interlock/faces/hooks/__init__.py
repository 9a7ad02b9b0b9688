"""Hooks of coding agents that call the server themselves: the reply is held until a person has answered."""
