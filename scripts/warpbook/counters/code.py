"""Memory accesses of a launch, derived from its machine code (SASS) and execution counts."""

import re
import sys

# The constant bank of a program's `__constant__` variables in machine code.
OWN_BANK = "0x3"


class Access:
    """An instruction of the machine code that accesses memory, with its execution counts."""

    def __init__(self, row):
        self.text, self.executed, self.threads, self.wavefronts = row
        self.is_predicated = self.text.startswith("@")
        # The assembler inserts such loads between a store to shared memory and an asynchronous copy.
        self.is_never_executed = self.text.startswith("@!PT ")
        self.opcode = re.sub(r"^@\S+ +", "", self.text).split()[0]
        unit = self.opcode.split(".")[0]
        self.unit = {"LD": "LDG", "ST": "STG"}.get(unit, unit)  # generic: global in every chapter
        width = re.search(r"\.(?:[US](8|16)|(64|128))\b", self.opcode)
        self.bytes = int(width[1] or width[2]) // 8 if width else 4

    def bank(self):
        """Returns the constant bank that is read and true if a register holds the address."""
        bank, address = re.search(r"c\[(\w+)\]\[([^]]*)\]", self.text).groups()
        return bank, bool(re.search(r"R\d", address))

    def warps(self):
        """Returns the number of warps with at least one active lane. Exits with an error if it is ambiguous."""
        low, high = self.bounds()
        if low != high:
            sys.exit(f"error: {low} to {high} warps were active in {self.text}: ncu does not report how many")
        return low

    def bounds(self):
        """Returns the minimum and maximum number of warps with an active lane."""
        if not self.is_predicated:
            return self.executed, self.executed
        if self.unit in ("LDS", "STS") and self.bytes <= 4:
            return self.wavefronts, self.wavefronts  # one per warp
        return -(-self.threads // 32), min(self.threads, self.executed)


def accesses_of(launch, unit):
    return [access for access in map(Access, launch["instructions"]) if access.unit == unit]


def instructions(launch, unit):
    return [access for access in accesses_of(launch, unit) if not access.is_never_executed]


def fixed_constants(launch):
    """Returns the number of constant requests that are not the program's: at addresses encoded in the machine
    code, and to the compiler's own tables."""
    fixed = tables = 0
    for load in instructions(launch, "LDC"):
        bank, in_register = load.bank()
        if not in_register:
            fixed += load.warps()
        elif bank != OWN_BANK:
            tables += load.warps()
    return fixed, tables


def program_constants(launch, total, ours):
    """Returns the program's share of `total` constant requests. If ncu does not report the number of other
    requests, returns the possible number closest to the simulator's count, `ours`."""
    low = high = 0
    for load in instructions(launch, "LDC"):
        bank, in_register = load.bank()
        if not in_register or bank != OWN_BANK:
            few, many = load.bounds()
            # Lanes may read different entries of the compiler's own tables.
            low, high = low + few, high + (load.threads if in_register else many)
    return min(max(ours, total - high), total - low)


def idle(launch, unit):
    """Returns how often a warp executed such an instruction without an active lane."""
    return sum(access.executed - access.warps() for access in instructions(launch, unit))
