"""Tables in Markdown, for the scripts that write docs/results."""


def table(header, rows):
    """A table's lines; its cells may be anything that has a text."""
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
    return text.replace("__restrict__", r"\_\_restrict\_\_")  # as it is, and not bold
