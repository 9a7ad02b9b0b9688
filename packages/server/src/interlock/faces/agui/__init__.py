"""The agui face: runs of hosted agents for clients of the AG-UI protocol, with interrupts that are our requests."""
