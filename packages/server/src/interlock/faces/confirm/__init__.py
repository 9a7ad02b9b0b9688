"""The confirm face: one WebSocket on which an agent works, and a person confirms its tools."""
