"""What runs inside a hosted graph: the asks, the middleware, the effect records, and the demo agent."""
