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
    r"besides|beside it": "also, next to",
    r"in place of": "instead of",
    r"where (there is|that is) none|none where": "`None` if",
    r"caller's promise": "the reason that holds at this line",
}
PHRASE = re.compile("|".join(rf"\b(?:{phrase})\b" for phrase in PHRASES), re.IGNORECASE)

COMMENT = re.compile(r"^\s*(?P<slashes>//[/!]?) ?(?P<text>.*)$")
PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md"]

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
    for page in PAGES:
        lines += [(page, n, text) for n, text in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1)]
    return [
        f"{path}:{number}: {match[0]!r}: {replacement(match[0])}"
        for path, number, text in lines
        if (match := PHRASE.search(re.sub(r"`[^`]*`", "", text)))
    ]


def replacement(phrase):
    return next(to for of, to in PHRASES.items() if re.fullmatch(of, phrase, re.IGNORECASE))


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
