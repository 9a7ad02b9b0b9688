"""Values and rules of Interlock: frozen dataclasses and transition tables, standard library only."""
