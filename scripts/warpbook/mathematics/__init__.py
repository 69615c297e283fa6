"""The device mathematics: the polynomials it is made of, and the values it is measured against."""
