"""Tests of the generated pages and their checks: `python3 -m unittest warpbook.pages.check_whole`, in scripts/."""

import pathlib
import tempfile
import unittest

from . import comments, github, markdown, narrow, parts, terms, ways, whole

RUNS = """\
| variant | GFLOP/s | measured, ms | fastest–slowest | speed, pitched = 1 | modelled, ms | bound by |
| --- | --- | --- | --- | --- | --- | --- |
| pitched | 3749 | 0.05244 | 0.05241–0.05248 | 1.00 | 0.04826 | L1 cache |
"""


class Whole(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def put(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def book(self):
        """Writes a book of two pages in each language."""
        self.put("kernels/add.cu", "int head;\n// ANCHOR: add\n// Adds.\nint add;\n// ANCHOR_END: add\n")
        self.put("docs/figures/pitch.en.svg", '<svg>\n<title id="t">Rows</title>\n</svg>\n')
        self.put("docs/figures/pitch.zh.svg", '<svg>\n<title id="t">行</title>\n</svg>\n')
        for tree in ("en", "zh"):
            self.put(f"docs/{tree}/SUMMARY.md", "# Book\n\n- [One](one.md)\n  - [Two](two.md)\n\n# Rest\n")
            self.put(
                f"docs/{tree}/one.md",
                "# One\n\n<!-- given 5 -->\nSee [two](two.md#a-b) and [`add`, kernels/add.cu:4](../../kernels/add.cu#L4).\n\n"
                "```cpp\n{{#include ../../kernels/add.cu:add}}\n```\n\n"
                f"{{{{#include ../figures/pitch.{tree}.svg}}}}\n",
            )
            self.put(f"docs/{tree}/two.md", "# Two\n\n## A *b*\n")
        return self.root / "docs"

    def test_a_whole_page_contains_its_includes(self):
        docs = self.book()
        whole.write(docs, self.root)
        page = (docs / "pages/en/one.md").read_text(encoding="utf-8")
        self.assertIn("```cpp\n// Adds.\nint add;\n```", page)
        self.assertIn("![Rows](../../figures/pitch.en.svg)", page)
        self.assertIn("[two](two.md#a-b)", page)
        self.assertIn("(../../../kernels/add.cu#L4)", page)
        self.assertIn("- [One](one.md)\n  - [Two](two.md)\n", (docs / "pages/en/README.md").read_text(encoding="utf-8"))
        self.assertNotIn("given 5", page)
        self.assertNotIn("{{#", page)
        self.assertEqual(whole.check(docs, self.root), ([], 6))
        self.assertEqual(github.check(whole.files(docs), self.root)[0], [])

    def test_outdated_pages_are_reported(self):
        docs = self.book()
        whole.write(docs, self.root)
        self.put("kernels/add.cu", "// ANCHOR: add\nint sum;\n// ANCHOR_END: add\n")
        self.put("docs/pages/en/left.md", "# Left\n")
        wrong, _ = whole.check(docs, self.root)
        self.assertEqual(len(wrong), 4)
        self.assertTrue(any("left.md is not generated from any page" in error for error in wrong))
        whole.write(docs, self.root)
        self.assertEqual(whole.check(docs, self.root)[0], [])

    def test_broken_links_and_includes_are_reported(self):
        self.put("two.md", "# Two\n\n## A `b`, c\n\n## A `b`, c\n")
        self.put("code.rs", "one\ntwo\n")
        for link in ("two.md", "two.md#a-b-c", "two.md#a-b-c-1", "code.rs#L2", "https://example.org/x#y"):
            page = self.put("page.md", f"[x]({link})\n\n`[x](no)`\n\n```\n[x](no)\n```\n")
            self.assertEqual(github.check([page], self.root)[0], [], link)
        for link in ("no.md", "two.md#a-b", "code.rs#L3", "code.rs#two", "../../etc/hosts"):
            page = self.put("page.md", f"[x]({link})\n")
            self.assertEqual(len(github.check([page], self.root)[0]), 1, link)
        page = self.put("page.md", "{{#include x}}\n")
        self.assertEqual(len(github.check([page], self.root)[0]), 1)

    def test_links_to_pages_with_includes_are_reported(self):
        self.put("docs/en/one.md", "# One\n")
        page = self.put("README.md", "[x](docs/en/one.md) [y](docs/pages/en/one.md) [z](docs/results/h.md)\n")
        self.assertEqual(len(list(whole.links_to_includes([page], self.root))), 1)

    def test_discarded_terms_are_reported(self):
        for name in ("README.md", "README.zh-CN.md", "docs/zh/glossary.md"):
            self.put(name, "拷贝\n" if name.endswith("glossary.md") else "# Warpbook\n")
        paths = ["docs/zh/one.md", "kernels/exercises/1/statement.zh.md", "kernels/exercises/1/exercise.toml"]
        paths.append("crates/exercises/src/a/b.rs")
        for text, expected in (("延迟\n", 0), ("\n时延\n", len(paths))):
            for path in paths:
                self.put(path, text)
            self.assertEqual(len(terms.check(self.root / "docs", self.root)), expected)

    def test_headings_have_githubs_anchors(self):
        for heading, name in (
            ("What a *real* GPU says", "what-a-real-gpu-says"),
            ("`vector-add`: code 4.1", "vector-add-code-41"),
            ("raytrace-const：第六章", "raytrace-const第六章"),
            ("[Mojo](https://x.org) & others", "mojo--others"),
            ("`const __restrict__`, __ever__", "const-__restrict__-ever"),
        ):
            self.assertEqual(github.anchor(heading), name)

    def test_includes_select_lines_of_files(self):
        file = self.put("a.rs", "1\n2\n3\n4\n")
        self.assertEqual(markdown.part(file, ""), "1\n2\n3\n4")
        self.assertEqual(markdown.part(file, "2:3"), "2\n3")
        self.assertEqual(markdown.part(file, "3:"), "3\n4")
        self.assertEqual(markdown.part(file, "2"), "2")


class Tables(unittest.TestCase):
    def test_wide_tables_are_narrowed_to_five_columns(self):
        text = narrow.narrowed(RUNS, "matmul-pitched", "en")
        self.assertIn("| pitched | 3749 | 0.05244 | 1.00 | 0.04826 |", text)
        self.assertIn("(../results/h200.md#matmul-pitched)", text)
        self.assertIn("| 变体 | GFLOP/s | 实测，毫秒 | 速度，pitched = 1 | 模型估算，毫秒 |", narrow.narrowed(RUNS, "x", "zh"))

    def test_other_tables_are_unchanged(self):
        for text in ("| a | b |\n|---|---|\n", f"```\n{RUNS}```\n", "| a | b | c | d | e | f |\n|-|-|-|-|-|-|\n"):
            self.assertEqual(narrow.narrowed(text, "x", "en"), text)


class Comments(unittest.TestCase):
    def test_comments_without_a_translation_are_left_out(self):
        code = '// Nobody knows this.\nint a; // nor this\nf("// no comment");\n\n// 中文\nint b;\n'
        self.assertEqual(comments.listing(code), 'int a;\nf("// no comment");\n\n// 中文\nint b;\n')

    def test_comments_with_a_translation_are_chinese(self):
        english, chinese = next((e, c) for e, c in comments.translations().items() if len(e) < 60)
        page = f"```rust\n    // {english}\n    f();\n```\n"
        self.assertEqual(comments.translated(page, "zh"), f"```rust\n    // {chinese}\n    f();\n```\n")
        self.assertEqual(comments.translated(page, "en"), page)


class Ways(unittest.TestCase):
    def test_a_missing_link_is_reported(self):
        links = [
            "../kernels/x.cu#L5", "../crates/{0}/src/main.rs#L7", "{0}.md#reading-the-counters",
        ]  # fmt: skip
        sections = {f"{name}-code": [link.format(name) for link in links] for name in ways.CHAPTERS}
        pages = {name: [f"listings.md#{name}-code"] for name in ways.CHAPTERS}
        self.assertEqual(list(ways.missing(sections, pages)), [])
        first = next(iter(ways.CHAPTERS))
        for index in range(len(links)):
            less = {**sections, f"{first}-code": [link.format(first) for link in links if link != links[index]]}
            self.assertEqual(len(list(ways.missing(less, pages))), 1, links[index])
        self.assertEqual(len(list(ways.missing(sections, {**pages, first: []}))), 1)
        self.assertEqual(len(list(ways.missing({}, pages))), len(ways.CHAPTERS))


class Parts(unittest.TestCase):
    def test_every_element_is_in_one_part(self):
        def text(y, words, size=13, fill="#212121"):
            return f'<text x="10" y="{y}" font-size="{size}" fill="{fill}">\n{words}\n</text>\n'

        body = text(22, "name", 18) + text(83, "Time", 15) + text(108, "a") + text(605, "Requests", 15)
        body += "".join(text(700 + 100 * n, f"variant {n}") for n in range(12)) + text(2000, "Roofline", 15)
        svg = (
            '<svg class="plot" role="img" aria-labelledby="p-title p-desc" width="408" height="2100" '
            'viewBox="0 0 408 2100">\n<title id="p-title">p</title>\n<desc id="p-desc">1\n2\n3</desc>\n'
            f'<rect width="408" height="2100" fill="#FFFFFF"/>\n{body}</svg>\n'
        )
        drawn = dict(parts.split(svg))
        self.assertEqual(list(drawn), ["times", "requests-1", "requests-2", "roofline"])
        for words in ("name", "Time", *(f"variant {n}" for n in range(12)), "Roofline"):
            self.assertEqual(sum(f">\n{words}\n<" in part for part in drawn.values()), 1, words)


if __name__ == "__main__":
    unittest.main()
