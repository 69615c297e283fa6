"""Flags and arguments with which a program is tried: its own, and smaller sizes."""

import dataclasses
import pathlib
import re

# Macros that select sizes in PolyBench's programs, the smallest first.
NAMED = ("MINI_DATASET", "SMALL_DATASET")
REPEATS = re.compile(r"repeat|iter|loop|times|trials|runs|passes", re.I)
CHECKS = re.compile(r"verif|check", re.I)
USAGE = re.compile(r"usage:?[^\"\n]*?((?:[<\[][^<>\[\]]+[>\]]\s*)+)", re.I)
DIVISORS = (512, 64, 8)
# Numbers up to this are more often a block's edge, a filter's width or a number of channels than a size.
MIN_SIZE = 64


@dataclasses.dataclass
class Attempt:
    """Additional compiler flags, the arguments of one run, and the values to which variables and macros of the
    sources are changed. `size` is "own" for the program's own size; `guessed` marks arguments that neither the
    program nor its Makefile contains."""

    flags: list
    arguments: list
    size: str = "smaller"
    guessed: bool = False
    values: dict = dataclasses.field(default_factory=dict)

    def __str__(self):
        return " ".join([*self.flags, *(f"{name}={value}" for name, value in self.values.items()), *self.arguments])

    def files(self, program, folder):
        """Returns the files to compile and additional flags: the program's, or copies in `folder` with other values."""
        if not self.values:
            return program.files, []
        paths = []
        for name in program.files:
            path = folder / pathlib.Path(name).name
            path.write_text(with_values((program.folder / name).read_text(errors="replace"), self.values))
            paths.append(path)
        return paths, [f"-I{program.folder}"]


def attempts(program):
    """Returns the attempts from the smallest size to the program's own."""
    own = Attempt([], program.arguments, "own")
    text = program.text
    # Only these files are copied with other values.
    files = "\n".join((program.folder / name).read_text(errors="replace") for name in program.files)
    values = {name: value for name, value in program.smaller.items() if with_values(files, {name: value}) != files}
    changed = [Attempt([], program.arguments, values=values)] if values else []
    named = [Attempt([f"-D{name}"], program.arguments) for name in NAMED if name in text]
    guessed = [Attempt([], words, guessed=True) for words in smaller(program.arguments, text)]
    return [*changed, *named, *guessed, own]


def with_values(text, values):
    """Returns the text of a source with other values for variables that are set to numbers, but not to 0 as loops
    set their variables, and for macros."""
    for name, value in values.items():
        text = re.sub(rf"(\b{name}\s*=\s*)\(?(?!0\b)\d[^,;\n]*(?=[,;])", rf"\g<1>{value}", text)
        text = re.sub(rf"(#\s*define\s+{name}[ \t]+)\S[^\n]*", rf"\g<1>{value}", text)
    return text


def smaller(arguments, text):
    """Returns arguments with one repetition, verification enabled and sizes divided, from the smallest on."""
    numbers = [index for index, word in enumerate(arguments) if re.fullmatch(r"(--?[\w-]+=)?\d+", word)]
    names = meanings(arguments, text)
    checks = (index for index, name in enumerate(names) if CHECKS.search(name))
    ones = {*repetitions(arguments, numbers, names), *checks}
    variants = []
    for divisor in (*DIVISORS, 1):
        words = [*arguments]
        for index in numbers:
            name, number = re.fullmatch(r"(.*?)(\d+)", words[index]).groups()
            words[index] = name + str(1 if index in ones else divided(int(number), divisor))
        if words != arguments and words not in variants:
            variants.append(words)
    return variants


def meanings(arguments, text):
    """Returns the names of the arguments in the program's usage line, or an empty list."""
    lists = [re.findall(r"[<\[]([^<>\[\]]+)", usage) for usage in USAGE.findall(text)]
    return next((names for names in lists if len(names) == len(arguments)), [])


def repetitions(arguments, numbers, names):
    """Returns the indices of arguments that are repetition counts, by name if known, or else the last number."""
    if names:
        repeats = [index for index in numbers if "repeat" in names[index].lower()]
        return repeats or [index for index in numbers if REPEATS.search(names[index])]
    options = [index for index in numbers if index and REPEATS.search(arguments[index - 1] + arguments[index])]
    positional = not any(word.startswith("-") for word in arguments)
    return options or (numbers[-1:] if positional else [])


def divided(number, divisor):
    """Returns a smaller size: the quotient, or a power of two if the number is not a multiple of the divisor."""
    if number <= MIN_SIZE or divisor == 1:
        return number
    if number % divisor == 0 and number // divisor >= MIN_SIZE:
        return number // divisor
    return max(MIN_SIZE, 1 << (max(number // divisor, 1).bit_length() - 1))
