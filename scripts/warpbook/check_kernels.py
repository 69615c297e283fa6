"""Tests for names and sums of kernels. Run in scripts/: python3 -m unittest warpbook.check_kernels"""

import pathlib
import tempfile
import unittest

from . import kernels


class Names(unittest.TestCase):
    def test_all_spellings_of_a_kernel_have_one_name(self):
        for name in ["mv", "mv(int, float*)", "mv<32>", "void mv<float, (Kind)1>(float const*, int)"]:
            self.assertEqual(kernels.plain(name), "mv")
        self.assertEqual(kernels.plain("void tree::insert<unsigned int>(unsigned int*)"), "tree::insert")

    def test_kernels_of_one_template_are_summed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "times"
            path.write_text("2 0.5 void scan<char>(char*)\n1 0.25 void scan<int>(int*)\n3 1.0 other\n")
            self.assertEqual(kernels.timed(path), {"scan": [3, 0.75], "other": [3, 1.0]})


if __name__ == "__main__":
    unittest.main()
