"""Files of records: a line of JSON per record, the first of them about the machine."""

import json
import sys


def read(path):
    """Returns the records of a file. Exits with an error if it has none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        if not lines:
            raise ValueError("the file is empty")
        return [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        sys.exit(f"error: {path}: cannot read records: {error}")


def read_if_any(path):
    """Returns the records of a file that may be empty; none without a path or a file."""
    if not path or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def save(path, lines, ensure_ascii=True):
    """Writes records into a file if a path is given."""
    if path:
        text = "".join(json.dumps(line, ensure_ascii=ensure_ascii) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
