"""What vendors of channels call."""
