"""Checks that a chapter's JSON record parses, names the chapter, and contains verified results.

    python3 check-record.py FILE CHAPTER
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    record = json.load(file)

if record["chapter"] != sys.argv[2]:
    sys.exit(f"error: the record is of the chapter {record['chapter']}, expected {sys.argv[2]}")
if record["gpu"]["time"] not in ("measured", "modelled"):
    sys.exit(f"error: the times are neither measured nor modelled: {record['gpu']}")
if not record["results"]:
    sys.exit("error: the record has no results")
for result in record["results"]:
    if result["verified"] is not True or not result["median_ms"] > 0:
        sys.exit(f"error: a result is not verified or has no time: {result}")
print(f"{record['chapter']}: {len(record['results'])} results, verified")
