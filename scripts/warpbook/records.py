"""Files of records: a line of JSON each, the first of them about the machine."""

import json
import sys


def read(path):
    """The records of a file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        if not lines:
            raise ValueError("it is empty")
        return [json.loads(line) for line in lines]
    except (OSError, ValueError) as error:
        sys.exit(f"error: {path} has no records: {error}")


def save(path, lines):
    """Keeps records in a file, if there is to be one."""
    if path:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
