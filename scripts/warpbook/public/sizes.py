"""With which flags and arguments a program is tried: as it is, and smaller."""

import dataclasses
import re

# Sizes that PolyBench's programs have names for, the smallest first.
NAMED = ("MINI_DATASET", "SMALL_DATASET")
REPEATS = re.compile(r"repeat|iter|loop|times|trials|runs|passes", re.I)
CHECKS = re.compile(r"verif|check", re.I)
USAGE = re.compile(r"usage:?[^\"\n]*?((?:[<\[][^<>\[\]]+[>\]]\s*)+)", re.I)
DIVISORS = (512, 64, 8)
# What is a block's edge, a filter's width or a number of channels more often than a size.
LEAST = 64


@dataclasses.dataclass
class Attempt:
    """How a program is compiled and run: flags beside its own, and its arguments; whether those are its own size,
    and whether nobody but us has thought of them."""

    flags: list
    arguments: list
    size: str = "smaller"
    guessed: bool = False

    def __str__(self):
        return " ".join([*self.flags, *self.arguments])


def attempts(program):
    """From the smallest to the program's own size."""
    own = Attempt([], program.arguments, "own")
    text = program.text
    named = [Attempt([f"-D{name}"], program.arguments) for name in NAMED if name in text]
    guessed = [Attempt([], words, guessed=True) for words in smaller(program.arguments, text)]
    return [*named, *guessed, own]


def smaller(arguments, text):
    """Arguments with one repetition, its results checked, and sizes divided, from the smallest on."""
    numbers = [place for place, word in enumerate(arguments) if re.fullmatch(r"(--?[\w-]+=)?\d+", word)]
    names = meanings(arguments, text)
    ones = {*repetitions(arguments, numbers, names), *(at for at, name in enumerate(names) if CHECKS.search(name))}
    found = []
    for divisor in (*DIVISORS, 1):
        words = [*arguments]
        for place in numbers:
            name, number = re.fullmatch(r"(.*?)(\d+)", words[place]).groups()
            words[place] = name + str(1 if place in ones else divided(int(number), divisor))
        if words != arguments and words not in found:
            found.append(words)
    return found


def meanings(arguments, text):
    """What the program's line of usage calls its arguments, or nothing."""
    lists = [re.findall(r"[<\[]([^<>\[\]]+)", usage) for usage in USAGE.findall(text)]
    return next((names for names in lists if len(names) == len(arguments)), [])


def repetitions(arguments, numbers, names):
    """Which of a program's arguments say how often it repeats: those that are called so, else its last number."""
    if names:
        repeats = [place for place in numbers if "repeat" in names[place].lower()]
        return repeats or [place for place in numbers if REPEATS.search(names[place])]
    options = [place for place in numbers if place and REPEATS.search(arguments[place - 1] + arguments[place])]
    positional = not any(word.startswith("-") for word in arguments)
    return options or (numbers[-1:] if positional else [])


def divided(number, divisor):
    """A smaller size: a power of two where it is no multiple of the divisor."""
    if number <= LEAST or divisor == 1:
        return number
    if number % divisor == 0 and number // divisor >= LEAST:
        return number // divisor
    return max(LEAST, 1 << (max(number // divisor, 1).bit_length() - 1))
