"""The MCP face: any host of the Model Context Protocol asks a person, by tools. No tool here answers."""
