"""The use cases: one function, one transaction. They know the domain and the ports, and no framework."""
