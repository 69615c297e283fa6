"""Language checks: openings of doc comments, ruled-out phrases, commit subjects. See scripts/language."""

import collections
import dataclasses
import re
import subprocess
import sys

from . import ROOT, flags, tables

# Commits up to this one are not checked: they are older than the rule.
LAST_UNCHECKED = "47fb54c0bb10a12076b9f4a8ea7b196714615b51"
SUBJECT_LENGTH = 72
MAX_SHARE = 0.005

# A doc comment that opens with one of these is a clause, not a noun phrase or a sentence with a verb.
OPENING = re.compile(
    r"(What|Whether|Who|Whose|Those|That|Which|How|Where|Of|It|Its|These|The same|So many|As many|All of|None"
    r"|Becomes|Nobody|Somebody)\b"
)

# Phrases that comments and pages do not use, each with a replacement.
PHRASES = {
    r"nobody|somebody|whoever": "name the caller, the thread, the user",
    r"(every )?so manieth": "every nth",
    r"so many\b(?! of)": "n, the number of",
    r"told of|is told|are told": "reported, notified",
    r"said of": "reported about",
    r"anew": "again",
    r"besides|beside": "also, next to, compared with",
    r"in place of": "instead of",
    r"where (there is|that is) none|none where": "`None` if",
    r"caller's promise": "the reason that holds at this line",
}
# Literal translations that the Chinese pages do not use, each with a replacement.
CHINESE_PHRASES = {
    "想法": "思路",
    "说了什么": "从……看……",
    "数的是什么": "计数的对象",
    "继续向前": "继续优化",
    "没有事做": "不做任何工作",
}

PHRASE = re.compile("|".join(rf"\b(?:{phrase})\b" for phrase in PHRASES), re.IGNORECASE)
CHINESE_PHRASE = re.compile("|".join(CHINESE_PHRASES))

COMMENT = re.compile(r"^\s*(?P<slashes>//[/!]?) ?(?P<text>.*)$")
PAGES = ["*.md", ":!docs/pages", ":!docs/zh", ":!*.zh.md", ":!*.zh-CN.md"]
CHINESE_PAGES = ["docs/zh/*.md", "*.zh.md", "*.zh-CN.md"]

SUBJECT = re.compile(r"(?P<areas>[a-z0-9][a-z0-9_.-]*(?:, [a-z0-9][a-z0-9_.-]*)*): (?P<verb>[a-z]+)\b.*[^.\s]")
# `adds`, `added` and `adding` are not imperatives; these words are, in spite of their ending.
ENDING = re.compile(r".*(?:[^s]s|ed|ing)")
IMPERATIVES = {"alias", "bring", "embed", "exceed", "feed", "focus", "need", "proceed", "seed", "shed", "speed", "spring", "string"}


@dataclasses.dataclass
class Comment:
    """One comment line and its place; `opens` is true for the first line of a doc comment."""

    path: str
    line: int
    text: str
    opens: bool


def main(doc):
    flags.parser(doc).parse_args()
    found = [comment for path in tracked("*.rs") for comment in comments(path)]
    wrong = openings(found) + phrases(found) + subjects()
    if wrong:
        sys.exit("\n  ".join(["error: language (see CONTRIBUTING.md, section Language):", *wrong]))


def tracked(*patterns):
    """Paths of the files in git that match, relative to the root."""
    names = git("ls-files", "-z", "--", *patterns).split("\0")
    return [name for name in names if name and (ROOT / name).exists()]


def git(*arguments):
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return result.stdout


def comments(path):
    """Yields the comment lines of a Rust file."""
    in_doc = False
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        match = COMMENT.match(line)
        is_doc = bool(match) and match["slashes"] != "//"
        if match:
            yield Comment(path, number, match["text"], is_doc and not in_doc)
        in_doc = is_doc


def openings(found):
    """Prints the count by crate. Returns the offending lines if their share is too large."""
    docs, bad = collections.Counter(), collections.defaultdict(list)
    for comment in found:
        if comment.opens:
            docs[crate(comment.path)] += 1
            if OPENING.match(comment.text):
                bad[crate(comment.path)].append(f"{comment.path}:{comment.line}: {comment.text}")
    count = sum(map(len, bad.values()))
    rows = [[name, docs[name], len(bad[name])] for name in sorted(docs)]
    rows.append(["together", docs.total(), count])
    print(tables.table(["crate", "doc comments", "ruled-out openings"], rows))
    return [line for lines in bad.values() for line in lines] if count > MAX_SHARE * docs.total() else []


def crate(path):
    """The crate's name, from a path like crates/NAME/… or crates/machinery/GROUP/NAME/…."""
    parts = path.split("/")
    return parts[3] if parts[1] == "machinery" else parts[1]


def phrases(found):
    """Returns the ruled-out phrases in comments and pages, one line each."""
    lines = [(comment.path, comment.line, comment.text) for comment in found]
    lines += [line for page in tracked(*PAGES) for line in prose(page)]
    chinese = [line for page in tracked(*CHINESE_PAGES) for line in prose(page)]
    return [
        f"{path}:{number}: {match[0]!r}: {replacement(match[0])}"
        for pattern, lines in [(PHRASE, lines), (CHINESE_PHRASE, chinese)]
        for path, number, text in lines
        if (match := pattern.search(re.sub(r"`[^`]*`|<!--.*?-->", "", text)))
    ]


def prose(page):
    """Yields the lines of a page outside of code blocks."""
    is_code = False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield page, number, line


def replacement(phrase):
    phrases = PHRASES | CHINESE_PHRASES
    return next(to for of, to in phrases.items() if re.fullmatch(of, phrase, re.IGNORECASE))


def subjects():
    """Returns the commit subjects since LAST_UNCHECKED that break the rule."""
    try:
        log = git("log", "--no-merges", "--format=%h %s", f"{LAST_UNCHECKED}..HEAD")
    except subprocess.CalledProcessError:
        print(f"Commit subjects were not checked: this clone does not have {LAST_UNCHECKED[:8]}.")
        return []
    checked = [line.split(" ", 1) for line in log.splitlines()]
    print(f"{len(checked)} commit subjects checked.")
    return [f"{commit}: {reason}: {subject}" for commit, subject in checked if (reason := objection(subject))]


def objection(subject):
    """Returns the rule that a commit subject breaks, or `None`."""
    match = SUBJECT.fullmatch(subject)
    if not match:
        return "not of the form `area: imperative summary`"
    if len(subject) > SUBJECT_LENGTH:
        return f"{len(subject)} characters, at most {SUBJECT_LENGTH}"
    if ENDING.fullmatch(match["verb"]) and match["verb"] not in IMPERATIVES:
        return f"`{match['verb']}` is not an imperative"
    return None
