"""A plugin of pytest that keeps a deterministic sample of the collected tests.

Of each test function, the parametrizations are sorted by name, and every n-th is kept, beginning with the first, where
n is CLIENT_EVERY. Tests whose name matches the regular expression CLIENT_WITHOUT are not run. If CLIENT_ONLY names a
file, only the tests run whose last name, with parameters, is a line of it.
"""

import collections
import os
import pathlib
import re


def pytest_collection_modifyitems(config, items):
    every = int(os.environ.get("CLIENT_EVERY", "1"))
    without = os.environ.get("CLIENT_WITHOUT")
    only = os.environ.get("CLIENT_ONLY")
    names = set(pathlib.Path(only).read_text(encoding="utf-8").splitlines()) if only else None
    functions = collections.defaultdict(list)
    for item in sorted(items, key=lambda item: item.nodeid):
        left_out = without and re.search(without, item.nodeid)
        if not left_out and (names is None or item.name in names):
            functions[item.nodeid.partition("[")[0]].append(item)
    kept = {item for tests in functions.values() for item in tests[::every]}
    config.hook.pytest_deselected(items=set(items) - kept)
    items[:] = [item for item in items if item in kept]
