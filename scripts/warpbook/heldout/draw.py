"""Choices that a seed decides, the same with every Python."""

import random


class Draw:
    def __init__(self, *seed):
        self.numbers = random.Random("/".join(map(str, seed)))

    def below(self, end):
        # Of all methods only random() is promised to stay as it is.
        return int(self.numbers.random() * end)

    def between(self, first, last):
        return first + self.below(last - first + 1)

    def one(self, *choices):
        return choices[self.below(len(choices))]

    def seed(self):
        return self.below(1 << 30)
