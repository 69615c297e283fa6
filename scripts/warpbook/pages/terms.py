"""One term a thing: words that the pages do not use, each with the one that they use in its place.

The glossary may name them, and so may code. Who adds a term that had several names adds the others here.
"""

import re

from . import prose

# What a word may not be part of, or may not stand before, is said in the expression.
DISCARDED = {
    "en": {
        r"first-level cache|level-1 cache|primary cache": "L1 cache",
        r"second-level cache|level-2 cache": "L2 cache",
        r"scratch-?pad": "shared memory",
        r"work-?groups?": "block",
        r"wave fronts?": "wavefront",
        r"cache lines? of 32 bytes": "sector",
        r"multi-processors?|streaming multiprocessors?": "multiprocessor",
        r"bank clash(es)?|banks collide": "bank conflict",
        r"ghost (cells|zone)": "halo",
        r"(?<!read-only )texture cache": "read-only cache",
    },
    "zh": {
        "一级缓存|一层缓存": "L1 缓存",
        "二级缓存|二层缓存": "L2 缓存",
        "(?<!同步)屏障": "同步屏障",
        "(数据|全局|共享|合并|宽|指令)加载|加载(指令|次数|请求)": "读取",
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
        "步长|步幅": "跨度",
        "张量核(?!心)": "张量核心",
        "线程组(?!成)": "线程块",
        "线程网格": "网格",
        "拷贝|拷回": "复制",
    },
}


def check(docs, root):
    """The discarded words that pages have, a sentence each with the word to take."""
    statements = root / "kernels" / "exercises"
    wrong = []
    for language, words in DISCARDED.items():
        readme = root / ("README.md" if language == "en" else "README.zh-CN.md")
        pages = [readme, *sorted((docs / language).glob("*.md"))]
        pages += sorted(statements.glob(f"*/statement.{language}.md"))
        for page in pages:
            if page.name != "glossary.md":
                wrong += [f"{page.relative_to(root)}:{what}" for what in discarded(page, words)]
    # What the course says besides. Its English stands among code, whose names are not looked at here.
    said = [*sorted(statements.glob("*/exercise.toml")), *sorted((root / "crates/exercises/src").rglob("*.rs"))]
    for file in said:
        wrong += [f"{file.relative_to(root)}:{what}" for what in discarded_lines(file, DISCARDED["zh"])]
    return wrong


def discarded(page, words):
    """The discarded words of a page, each with the line in which its paragraph begins."""
    for paragraph in prose.paragraphs(page.read_text(encoding="utf-8").split("\n")):
        for word, kept in words.items():
            if found := re.search(word, paragraph.text, re.IGNORECASE):
                yield f"{paragraph.first}: {found[0]}: say {kept}"


def discarded_lines(file, words):
    """The discarded words of a file that is no page, each with its line."""
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
        for word, kept in words.items():
            if found := re.search(word, line):
                yield f"{number}: {found[0]}: say {kept}"
