"""Seeded random choices that are the same with every version of Python."""

import random


class Draw:
    def __init__(self, *seed):
        self.numbers = random.Random("/".join(map(str, seed)))

    def below(self, end):
        # Python guarantees only that random() keeps its sequence.
        return int(self.numbers.random() * end)

    def between(self, first, last):
        return first + self.below(last - first + 1)

    def choice(self, *choices):
        return choices[self.below(len(choices))]

    def seed(self):
        return self.below(1 << 30)
