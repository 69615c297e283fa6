"""What the machine code tells of a launch's accesses."""

import re
import sys

# Where the machine code has the `__constant__` variables of a program.
OWN_BANK = "0x3"


class Access:
    """One instruction of the machine code that accesses memory, and how often it ran."""

    def __init__(self, row):
        self.text, self.executed, self.threads, self.turns = row
        self.guarded = self.text.startswith("@")
        # The assembler puts such loads between a store to shared memory and an asynchronous copy.
        self.never = self.text.startswith("@!PT ")
        self.opcode = re.sub(r"^@\S+ +", "", self.text).split()[0]
        unit = self.opcode.split(".")[0]
        self.unit = {"LD": "LDG", "ST": "STG"}.get(unit, unit)  # generic: global in every chapter
        width = re.search(r"\.(?:[US](8|16)|(64|128))\b", self.opcode)
        self.bytes = int(width[1] or width[2]) // 8 if width else 4

    def bank(self):
        """The constant bank that is read, and whether the address is in a register."""
        bank, address = re.search(r"c\[(\w+)\]\[([^]]*)\]", self.text).groups()
        return bank, bool(re.search(r"R\d", address))

    def warps(self):
        """How many warps had a lane that took part."""
        least, most = self.bounds()
        if least != most:
            sys.exit(f"error: {least} to {most} warps took part in {self.text}: ncu does not say")
        return least

    def bounds(self):
        """Of how many warps a lane took part, at least and at most."""
        if not self.guarded:
            return self.executed, self.executed
        if self.unit in ("LDS", "STS") and self.bytes <= 4:
            return self.turns, self.turns  # one for each warp
        return -(-self.threads // 32), min(self.threads, self.executed)


def accesses_of(launch, unit):
    return [one for one in map(Access, launch["instructions"]) if one.unit == unit]


def instructions(launch, unit):
    return [one for one in accesses_of(launch, unit) if not one.never]


def fixed_constants(launch):
    """Constant requests that the program did not make: at addresses that the machine code has, and
    of the compiler's own tables."""
    fixed = tables = 0
    for load in instructions(launch, "LDC"):
        bank, in_register = load.bank()
        if not in_register:
            fixed += load.warps()
        elif bank != OWN_BANK:
            tables += load.warps()
    return fixed, tables


def program_constants(launch, total, ours):
    """Of so many constant requests those that the program made. Where ncu does not say how many there were
    that it did not make, they are taken to be as many as the simulator's figure asks for."""
    least = most = 0
    for load in instructions(launch, "LDC"):
        bank, in_register = load.bank()
        if not in_register or bank != OWN_BANK:
            few, many = load.bounds()
            # Of the compiler's own tables lanes may want different entries.
            least, most = least + few, most + (load.threads if in_register else many)
    return min(max(ours, total - most), total - least)


def idle(launch, unit):
    """How often a warp executed one of these without a lane that took part."""
    return sum(one.executed - one.warps() for one in instructions(launch, unit))
