"""Checks that a chapter's JSON record parses, names all variants, and was verified.

    python3 check-record.py FILE
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    record = json.load(file)

if record["gpu"]["time"] not in ("measured", "modelled"):
    sys.exit(f"the record does not say where times come from: {record['gpu']}")
variants = [result["variant"] for result in record["results"]]
if variants != ["global", "constant", "unrolled"]:
    sys.exit(f"the record has other variants: {variants}")
for result in record["results"]:
    if result["verified"] is not True or not result["median_ms"] > 0:
        sys.exit(f"not verified, or no time: {result}")
print(f"{sys.argv[1]}: {', '.join(variants)}, verified")
