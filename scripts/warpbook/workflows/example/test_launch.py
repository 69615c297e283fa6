"""A test that launches a kernel in the process of pytest."""

import launch


def test_launch():
    assert launch.run(1) == 2 * 255
