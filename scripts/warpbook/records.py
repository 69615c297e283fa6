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


def save(path, lines):
    """Writes records into a file if a path is given."""
    if path:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
