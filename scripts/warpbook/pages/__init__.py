"""What is looked at in the book's pages: as they are written, as they are built, in a browser."""
