"""Connections to the MCP servers behind the gateway: over HTTP, and to processes that are started here."""
