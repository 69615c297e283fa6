"""A plugin of pytest that skips a Dr.Jit test once it requires OptiX, which is part of NVIDIA's driver."""

import pytest

MESSAGE = "Could not initialize OptiX"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    error = call.excinfo and call.excinfo.value
    while error is not None and MESSAGE not in str(error):
        error = error.__cause__ or error.__context__
    if error is not None:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), None, "needs OptiX")
