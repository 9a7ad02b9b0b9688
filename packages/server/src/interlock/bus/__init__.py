"""Live events: in process."""
