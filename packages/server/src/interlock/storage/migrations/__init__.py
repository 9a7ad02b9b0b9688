"""The steps that build the tables, in order. `migrate` applies those that a database has not seen."""
