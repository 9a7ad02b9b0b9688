"""The `interlock` command. Each command imports what it needs when it runs, so that the light ones are quick."""
