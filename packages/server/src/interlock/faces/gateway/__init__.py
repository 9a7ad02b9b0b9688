"""The gateway: MCP servers of others behind this one, whose tools are called when people agree."""
