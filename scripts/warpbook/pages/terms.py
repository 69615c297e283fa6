"""One term per concept: words that the pages do not use, each with the word that they use instead.

The glossary and code may use the discarded words. The terms of the field (NVIDIA's manuals, in either language)
are never discarded here. A new entry lists all former names of its term.
"""

import re

from . import prose

# Lookarounds exempt longer words that contain a discarded one.
DISCARDED = {
    "en": {
        r"first-level cache|level-1 cache|primary cache": "L1 cache",
        r"second-level cache|level-2 cache": "L2 cache",
        r"scratch-?pad": "shared memory",
        r"work-?groups?": "block",
        r"wave fronts?": "wavefront",
        r"cache lines? of 32 bytes": "sector",
        r"multi-processors?": "streaming multiprocessor",
        r"bank clash(es)?|banks collide": "bank conflict",
        r"ghost (cells|zone)": "halo",
        r"(?<!read-only )texture cache": "read-only cache",
    },
    "zh": {
        "一级缓存|一层缓存": "L1 缓存",
        "二级缓存|二层缓存": "L2 缓存",
        "(?<!同步)屏障": "同步屏障",
        "间距|行距": "pitch",
        "填充(?!值)": "补齐",
        "仓库": "代码库",
        "链路": "总线",
        "零散": "分散",
        "本地内存": "局部内存",
        "常数内存|常量存储器": "常量内存",
        "存储系统": "内存系统",
        "页锁定内存|页锁内存|固定内存": "锁页内存",
        "托管内存|托管存储": "统一内存",
        "内核函数": "核函数",
        "时延": "延迟",
        "频宽": "带宽",
        "吞吐率|通量": "吞吐量",
        "波阵面": "波前",
        "光晕|晕区": "光环",
        "张量核(?!心)": "张量核心",
        "线程组(?!成)": "线程块",
        "线程网格": "网格",
    },
}


def check(docs, root):
    """Returns the discarded words that pages use, one line each, with the word to use instead."""
    statements = root / "kernels" / "exercises"
    wrong = []
    for language, words in DISCARDED.items():
        readme = root / ("README.md" if language == "en" else "README.zh-CN.md")
        pages = [readme, *sorted((docs / language).glob("*.md"))]
        pages += sorted(statements.glob(f"*/statement.{language}.md"))
        for page in pages:
            if page.name != "glossary.md":
                wrong += [f"{page.relative_to(root)}:{error}" for error in discarded(page, words)]
    # The course's Chinese text. Its English text is not checked, because it is mixed with code.
    course = [*sorted(statements.glob("*/exercise.toml")), *sorted((root / "crates/exercises/src").rglob("*.rs"))]
    for file in course:
        wrong += [f"{file.relative_to(root)}:{error}" for error in discarded_lines(file, DISCARDED["zh"])]
    return wrong


def discarded(page, words):
    """Yields the discarded words of a page, each with the first line of its paragraph."""
    for paragraph in prose.paragraphs(page.read_text(encoding="utf-8").split("\n")):
        for word, term in words.items():
            if found := re.search(word, paragraph.text, re.IGNORECASE):
                yield f"{paragraph.first}: {found[0]}: use {term}"


def discarded_lines(file, words):
    """Yields the discarded words of a file that is not a page, each with its line."""
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        for word, term in words.items():
            if found := re.search(word, line):
                yield f"{number}: {found[0]}: use {term}"
