"""The manage face: what admins and owners set, and look up, at `/api/v1/...`."""
