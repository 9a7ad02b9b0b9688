"""Runs agents. The only place that reads LangGraph's interrupts."""
