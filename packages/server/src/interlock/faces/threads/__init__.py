"""The threads face: chat, resume, status and history over REST and SSE."""
