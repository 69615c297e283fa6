"""Draws the book's plots in docs/figures/plots: the `--plot` output of the chapters' programs on the simulator,
with what was measured on a GPU (marks.py), split into parts that fit a screen (parts.py), in English and in Chinese.
Used by scripts/figures.

A text is not translated if it is a number with or without a unit, or a name in the run's JSON record, for example
a variant's. All others are translated line by line with PHRASES.
"""

import argparse
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from . import marks, parts
from .. import ROOT
from ..chapters import CHAPTERS

HERE = "scripts/warpbook/pages/plots.py"
FOLDER = ROOT / "docs" / "figures" / "plots"

# The first matching phrase applies; {} matches any text that can itself be translated.
PHRASES = {
    "modelled, {}: not a measurement": "{} 的模型估算时间，不是实测",
    "Shortest time: {}": "时间最短：{}",
    "Longest time: {}": "时间最长：{}",
    "Requests: {}": "请求：{}",
    "Fewest requests: {}": "请求最少：{}",
    "Most requests: {}": "请求最多：{}",
    "Time by variant": "各变体的时间",
    "ms per launch or copy, modelled": "每次启动或复制的毫秒数，模型估算",
    "ms per launch or copy, modelled, log scale": "每次启动或复制的毫秒数，模型估算，对数坐标",
    "Requests by variant": "各变体的请求",
    # One sentence in two lines.
    "thin: requests, one per warp instruction (constant: one per": "细条：请求，每条线程束指令一次（常量内存：每个不同的",
    "distinct address); pale: 32-byte sectors or wavefronts": "地址一次）；浅色：32 字节扇区或波前",
    "global loads": "全局内存读取",
    "global stores": "全局内存写入",
    "shared memory": "共享内存",
    "constant memory": "常量内存",
    "none": "无",
    "{} requests": "{} 次请求",
    "{} requests, {} sectors": "{} 次请求，{} 个扇区",
    "{} requests, {} wavefronts": "{} 次请求，{} 个波前",
    "requests, sectors, wavefronts per launch, log scale": "每次启动的请求、扇区、波前，对数坐标",
    "Roofline": "屋顶线图",
    "FLOP/s, modelled, log scale": "FLOP/s，模型估算，对数坐标",
    "FLOP per byte of device memory, log scale": "设备内存每字节的运算量（FLOP），对数坐标",
    "device memory, {}": "设备内存，{}",
    "theoretical;": "理论值；",
    "measured: {}": "实测：{}",
    "arithmetic, {}": "算力，{}",
    "No roofline: no kernel uses floating-point arithmetic.": "没有屋顶线图：这里的核函数都不做浮点运算。",
    "{} sums": "{} 次加法",
    "blocks of {} threads": "每块 {} 个线程",
    "{}, modelled, {}": "{}，模型估算，{}",
    "{}: {}": "{}：{}",
    "{}, {}": "{}，{}",
}
NUMBER = re.compile(r"[\d.][\d. –]*[kMGTPE]?(ms|B/s|FLOP/s|FLOP/B)?|\d+-\d\d-\d\d")
TEXTS = re.compile(r"(?<=>)[^<>]+(?=</(?:text|title|desc)>)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--check", action="store_true", help="only check that the plots are up to date")
    flags = parser.parse_args()
    files = plots(flags.programs.resolve())
    existing = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.svg")}
    stale = sorted(name for name in {*files, *existing} if files.get(name) != existing.get(name))
    if flags.check and stale:
        sys.exit(f"error: out of date: {', '.join(stale)}; run scripts/figures to draw them")
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        if name in files:
            (FOLDER / name).write_text(files[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
        print(FOLDER / name)


def plots(programs):
    """Returns the plots in both languages: each file's name and text."""
    files, used = {}, set()
    for name, chapter in CHAPTERS.items():
        svg, record = drawn(programs / name, chapter.plot.split())
        names = set(strings(record))
        svg = marks.with_measured_bandwidth(marks.with_measured_times(svg, record))
        try:
            words = TEXTS.sub(lambda text: chinese(text[0], names, used), svg)
        except KeyError as unknown:
            sys.exit(f"error: {name}: no Chinese translation of {unknown}: add it to PHRASES in {HERE}")
        for language, whole in (("en", svg), ("zh", words)):
            drawings = {part: text for part, text in parts.split(whole)}
            if launch_bound(record):
                drawings.pop("roofline", None)
            files |= {f"{name}-{part}.{language}.svg": text for part, text in drawings.items()}
    if unused := PHRASES.keys() - used:
        sys.exit(f"error: {HERE}: no plot contains {sorted(unused)}: remove these phrases")
    return files


def drawn(program, arguments):
    """Returns a program's plot and its record."""
    with tempfile.TemporaryDirectory(prefix="plot-") as folder:
        name = f"plot-{program.name}"
        done = subprocess.run(
            [program, *arguments, "--json", "--plot", name],
            cwd=folder,
            env={**os.environ, "CUDA_BACKEND": "sim"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        if done.returncode:
            sys.exit(f"error: {program.name} failed:\n{done.stderr}")
        svg = (pathlib.Path(folder) / f"{name}.svg").read_text(encoding="utf-8")
    return svg, json.loads(done.stdout)


def launch_bound(record):
    """Returns true if no kernel takes longer than its launch; a roofline would then show nothing."""
    return all(result["model"] is None or result["model"]["binding"] == "launch" for result in record["results"])


def strings(record):
    """Yields every string in a record."""
    if isinstance(record, str):
        yield record
    elif isinstance(record, (dict, list)):
        for part in record.values() if isinstance(record, dict) else record:
            yield from strings(part)


def chinese(text, names, used):
    """Translates the lines of an element's text into Chinese, and adds the phrases used to `used`."""
    lines = [html.unescape(line) for line in text.split("\n")]
    return "\n".join(html.escape(translated(line, names, used), quote=False) for line in lines)


def translated(text, names, used):
    if not text or text in names or NUMBER.fullmatch(text):
        return text
    for phrase, words in PHRASES.items():
        match = re.fullmatch(re.escape(phrase).replace(r"\{\}", "(.+)"), text)
        if match:
            used.add(phrase)
            return words.format(*(translated(part, names, used) for part in match.groups()))
    raise KeyError(text)


if __name__ == "__main__":
    try:
        main()
    except FileNotFoundError as error:
        sys.exit(f"error: {error.filename} not found: build the programs with cargo build --workspace")
