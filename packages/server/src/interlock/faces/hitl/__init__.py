"""The hitl face: clarification, decision, env_var and permission requests over REST, SSE and WebSocket."""
