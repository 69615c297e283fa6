"""Tests for the language checks. Run in scripts/: python3 -m unittest warpbook.check_language"""

import unittest

from . import language


def line(text, opens=False):
    return language.Comment("crates/common/src/lib.rs", 1, text, opens)


class Language(unittest.TestCase):
    def test_subjects_with_area_and_imperative_are_accepted(self):
        for subject in (
            "sim: implement wgmma.mma_async",
            "driver: skip notify when no thread waits",
            "exercises, answers: embed the statements",
            "raytrace-const: pass the image's size",
        ):
            self.assertIsNone(language.objection(subject), subject)

    def test_subjects_without_area_or_imperative_are_rejected(self):
        for subject in (
            "Slow corners are measured with nothing counted too",
            "sim: Implement wgmma",
            "sim: implements wgmma",
            "sim: implemented wgmma",
            "sim: implementing wgmma",
            "sim: implement wgmma.",
            "sim: " + "implement " * 8 + "wgmma",
        ):
            self.assertIsNotNone(language.objection(subject), subject)

    def test_ruled_out_openings_are_listed_if_their_share_is_too_large(self):
        self.assertEqual(len(language.openings([line("What it is.", opens=True)])), 1)
        self.assertEqual(language.openings([line("Whatever comes.", opens=True), line("What follows.")]), [])

    def test_ruled_out_phrases_are_found_outside_code(self):
        self.assertEqual(len(language.phrases([line("Somebody waits, and is told of it.")])), 1)
        self.assertEqual(language.phrases([line("The field `nobody` is unused.")]), [])


if __name__ == "__main__":
    unittest.main()
