"""Tables of runs as the pages show them: at most five columns, which fit the page. Other tables may have more, if their
words fit side by side.

docs/results has tables of up to eleven columns, and the chapters' pages include them. A page shows the columns of
the first row of COLUMNS that the table has, and below it a link to the complete table. Chinese pages have Chinese
column heads; the appendix is English.
"""

import re

from ..chapters import CHAPTERS

MAX_COLUMNS = 5
# The sum of the longest words of all columns, in characters, at which a table of more columns still fits.
MAX_WORDS = 84
# A column is identified by its head, or by the head's part before a comma.
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
# The column heads of docs/results in Chinese; others are not translated.
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
    "share of limit": "达到极限的比例",
    "bound by": "受限于",
    "allocation": "分配",
    "floats": "浮点数",
    "width bytes": "宽度，字节",
    "pitch bytes": "pitch，字节",
    "wasted bytes": "浪费，字节",
    "kernel": "核函数",
    "thread instructions, M": "线程指令，百万",
    "chapter": "章",
    "minimal arguments": "最小规模",
    "ms": "毫秒",
    "default arguments, s": "默认规模，秒",
}
# Values of cells in Chinese: the resource that bounds a kernel, and a limit among the rungs.
CELLS = {
    "device memory": "设备内存",
    "L1 cache and shared memory": "L1 缓存和共享内存",
    "L2 cache": "L2 缓存",
    "constant cache": "常量缓存",
    "instruction issue": "指令发射",
    "arithmetic": "计算单元",
    "launching": "启动开销",
    "latency": "延迟",
    "*limit*": "*极限*",
}
SPEED = re.compile(r"speed, (.*) = 1")
# The target of a table's link, by the table's first column; other tables contain runs.
APPENDIX = {"kernel": "simulator.md", "chapter": "simulator.md"}
WORDS = {"en": "[All columns]({link})", "zh": "[全部列]({link})"}
# A table. Lines of code blocks are excluded with FENCED, because they show a program's output.
TABLE = re.compile(r"(?:^\|.*\|[ ]*\n)+", re.MULTILINE)
FENCED = re.compile(r"^(```+|~~~+)[^\n]*\n(?:.*\n)*?\1[ ]*$", re.MULTILINE)


def narrowed(text, page, language):
    """Returns a page's text with narrow tables. `page` is its name, from which its chapter follows."""
    inside = [block.span() for block in FENCED.finditer(text)]

    def replacement(table):
        if any(first <= table.start() < last for first, last in inside):
            return table[0]
        return narrow(table[0], page, language)

    return TABLE.sub(replacement, text)


def narrow(table, page, language):
    """Returns a table with the selected columns and a link to the complete one, or the whole table if it fits."""
    rows = [cells(row) for row in table.splitlines()]
    selected = columns(rows[0])
    is_wide = len(rows[0]) > MAX_COLUMNS and selected
    head = rows[0]
    if language == "zh":
        rows[0] = [chinese(column) for column in head]
    if rows[0] != head:
        rows[2:] = [[CELLS.get(cell, cell) for cell in row] for row in rows[2:]]
    if not is_wide:
        return table if rows[0] == head else "".join(f"{written(row)}\n" for row in rows)
    lines = [written([row[index] for index in selected]) for row in rows]
    chapter = [f"#{name}" for name in CHAPTERS if name in page]
    link = "../results/" + APPENDIX.get(head[0], "".join(["h200.md", *chapter[:1]]))
    return "\n".join([*lines, "", WORDS[language].format(link=link), ""])


def written(row):
    return f"| {' | '.join(row)} |"


def chinese(head):
    """Returns a column head in Chinese if a translation exists."""
    return CHINESE.get(head) or SPEED.sub(r"速度，\1 = 1", head)


def columns(head):
    """Returns the indices of the columns to show, or `None` if no row of COLUMNS applies."""
    for row in COLUMNS:
        indices = [index for name in row for index, column in enumerate(head) if is_called(column, name)]
        if len(indices) == len(row):
            return indices
    return None


def is_called(head, name):
    return head == name or head.startswith(f"{name}, ")


def cells(row):
    """Returns the cells of a row. An escaped bar does not separate cells."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def wide(file):
    """Yields an error per table of a page that is too wide."""
    text = file.read_text(encoding="utf-8")
    inside = [block.span() for block in FENCED.finditer(text)]
    for table in TABLE.finditer(text):
        rows = [cells(row) for row in table[0].splitlines()]
        head = rows.pop(0)
        if len(head) <= MAX_COLUMNS or any(first <= table.start() < last for first, last in inside):
            continue
        if sum(longest_word(column) for column in zip(head, *rows[1:])) > MAX_WORDS:
            yield (
                f"the table of {head[0] or head[1]} has {len(head)} columns, which do not fit side by side: "
                "split the table, or list the columns to show in scripts/warpbook/pages/narrow.py"
            )


def longest_word(column):
    """Returns the characters of the longest word in a column; a Chinese text can be broken anywhere."""
    return max(len(word) for cell in column for word in re.split(r"[ \u2e80-\uffff]", cell))
