"""Calls of tools of MCP servers behind the gateway: asked about, recorded, and put to people where in doubt."""
