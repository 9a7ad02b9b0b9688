"""The pages that people look at, built from packages/web."""
