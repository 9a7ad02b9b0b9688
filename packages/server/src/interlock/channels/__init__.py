"""Vendors of channels, one file each: how their messages look, and how they are sent."""
