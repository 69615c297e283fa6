"""Tables of runs as a page shows them: five columns at most, which fit; the appendix has all.

docs/results has tables of up to eleven columns, and the pages of the chapters include them. Of such
a table a page gets the columns of the first row of COLUMNS that it has, and below it a link to where
the rest is. On Chinese pages its headings are Chinese; the appendix is English.
"""

import re

from ..chapters import CHAPTERS

MOST = 5
# A column by its name, or by what stands in it before a comma.
COLUMNS = [
    ["variant", "symbol", "bytes", "measured, ms", "modelled, ms"],
    ["variant", "sums", "pattern", "measured, ms", "speed"],
    ["variant", "block", "measured, ms", "speed", "modelled, ms"],
    ["variant", "accesses counted on the simulator", "measured, ms", "speed", "modelled, ms"],
    ["variant", "GFLOP/s", "measured, ms", "speed", "modelled, ms"],
    ["variant", "GB/s", "measured, ms", "speed", "modelled, ms"],
    ["variant", "measured, ms", "speed", "modelled, ms", "bound by"],
    ["allocation", "floats", "width bytes", "pitch bytes", "wasted bytes"],
    ["kernel", "thread instructions, M", "nothing 1", "sample 1", "everything 1"],
    ["chapter", "minimal arguments", "ms", "default arguments, s"],
]
# The headings of docs/results in Chinese; what is not here stays as it is. {} is a variant.
CHINESE = {
    "variant": "变体",
    "rung": "阶梯",
    "symbol": "符号",
    "bytes": "字节",
    "sums": "加法次数",
    "pattern": "访问模式",
    "block": "线程块",
    "accesses counted on the simulator": "模拟器统计的访问次数",
    "measured, ms": "实测，毫秒",
    "modelled, ms": "模型估算，毫秒",
    "modelled / measured": "模型估算 ÷ 实测",
    "share of limit": "与极限之比",
    "bound by": "受限于",
    "allocation": "分配",
    "floats": "浮点数",
    "width bytes": "宽度，字节",
    "pitch bytes": "pitch，字节",
    "wasted bytes": "浪费，字节",
    "kernel": "核函数",
    "thread instructions, M": "线程指令，百万",
    "chapter": "章",
    "minimal arguments": "工作很少时",
    "ms": "毫秒",
    "default arguments, s": "默认规模，秒",
}
# What binds a kernel, and a limit among the rungs.
SAID = {
    "device memory": "设备内存",
    "L1 cache and shared memory": "L1 缓存和共享内存",
    "L2 cache": "L2 缓存",
    "constant cache": "常量缓存",
    "instruction issue": "指令发射",
    "arithmetic": "算术",
    "launching": "启动",
    "latency": "延迟",
    "*limit*": "*极限*",
}
SPEED = re.compile(r"speed, (.*) = 1")
# What a table's link leads to, by its first column; other tables are of runs.
APPENDIX = {"kernel": "simulator.md", "chapter": "simulator.md"}
WORDS = {"en": "[All columns]({link})", "zh": "[全部列]({link})"}
# A table, and no line of a block of code: there a line before it says what runs.
TABLE = re.compile(r"(?:^\|.*\|[ ]*\n)+", re.MULTILINE)
FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n(?:.*\n)*?\1[ ]*$", re.MULTILINE)


def narrowed(text, page, language):
    """A page's text with narrow tables; `page` is its name, by which its chapter is known."""
    inside = [block.span() for block in FENCED.finditer(text)]

    def one(table):
        if any(first <= table.start() < last for first, last in inside):
            return table[0]
        return narrow(table[0], page, language)

    return TABLE.sub(one, text)


def narrow(table, page, language):
    """A table with the columns that are kept, and where the others are; all of it, where they are few."""
    rows = [cells(row) for row in table.splitlines()]
    kept = columns(rows[0])
    wide = len(rows[0]) > MOST and kept
    head = rows[0]
    if language == "zh":
        rows[0] = [chinese(one) for one in head]
    if rows[0] != head:
        rows[2:] = [[SAID.get(cell, cell) for cell in row] for row in rows[2:]]
    if not wide:
        return table if rows[0] == head else "".join(f"{written(row)}\n" for row in rows)
    lines = [written([row[place] for place in kept]) for row in rows]
    chapter = [f"#{name}" for name in CHAPTERS if name in page]
    link = "../results/" + APPENDIX.get(head[0], "".join(["h200.md", *chapter[:1]]))
    return "\n".join([*lines, "", WORDS[language].format(link=link), ""])


def written(row):
    return f"| {' | '.join(row)} |"


def chinese(head):
    """A heading in Chinese, where it is known."""
    return CHINESE.get(head) or SPEED.sub(r"速度，\1 = 1", head)


def columns(head):
    """The places of the columns to keep; None where no row of COLUMNS has them."""
    for row in COLUMNS:
        found = [place for name in row for place, one in enumerate(head) if called(one, name)]
        if len(found) == len(row):
            return found
    return None


def called(head, name):
    return head == name or head.startswith(f"{name}, ")


def cells(row):
    """The cells of a row; a bar in code is none."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def wide(file):
    """The tables of a page that are too wide for it, a sentence each."""
    text = file.read_text(encoding="utf-8")
    inside = [block.span() for block in FENCED.finditer(text)]
    for table in TABLE.finditer(text):
        head = cells(table[0].splitlines()[0])
        if len(head) > MOST and not any(first <= table.start() < last for first, last in inside):
            yield (
                f"the table of {head[0] or head[1]} has {len(head)} columns, and {MOST} fit: "
                "say which of them in scripts/warpbook/pages/narrow.py"
            )
