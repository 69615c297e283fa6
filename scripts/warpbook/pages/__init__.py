"""Checks and generators of the book's pages: their sources, the built book, and its rendering in a browser."""
