"""How fast the program is, measured as a user has it: the wheel, in an environment of its own."""
