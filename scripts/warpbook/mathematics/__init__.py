"""The device mathematics: its polynomials, and reference values to test it."""
