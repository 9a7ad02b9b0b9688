"""Wire models of Interlock's faces. Light: pydantic, and nothing of the server."""

__version__ = "0.1.0"
