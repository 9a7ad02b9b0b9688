"""Between a coding agent's own dialog and the inbox: both are asked, and the first answer wins.

Nothing here decides where nobody has: the agent's own dialog stays as it is.
"""
