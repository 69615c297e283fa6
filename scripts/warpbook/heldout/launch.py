"""Kernel sources and their launch plans, in the format of the program `launches`."""

SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "f32": 4, "f64": 8}
TYPES = {
    "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int",
    "u64": "unsigned long long", "f32": "float", "f64": "double",
}  # fmt: skip


class Launch:
    """A kernel with the given parameters and body. `before` precedes the kernel in the source."""

    def __init__(self, label, parameters, body, grid, block, before=""):
        self.label, self.before, self.body = label, before, body
        self.parameters = parameters
        self.grid, self.block = three(grid), three(block)

    def source(self, kernel):
        declared = ", ".join(parameter.declared() for parameter in self.parameters)
        return f'{self.before}extern "C" __global__ void {kernel}({declared}) {{\n{self.body}}}\n'

    def planned(self, kernel, ptx):
        buffers = [parameter.buffer() for parameter in self.parameters if isinstance(parameter, Buffer)]
        launch = {
            "kernel": kernel,
            "grid": self.grid,
            "block": self.block,
            "arguments": [parameter.argument() for parameter in self.parameters],
        }
        return {"label": self.label, "ptx": ptx, "plan": {"buffer": buffers, "launch": [launch]}}


class Buffer:
    """A buffer parameter with `count` random elements below `below`, or zeros if `below` is 0."""

    def __init__(self, name, of, count, below=0, seed=0, type=None, const=None):
        self.name, self.of, self.count, self.below, self.seed = name, of, count, below, seed
        self.type = type or TYPES[of]
        self.const = below > 0 if const is None else const

    def declared(self):
        return f"{'const ' if self.const else ''}{self.type} *{self.name}"

    def buffer(self):
        fill = f"hash({self.seed}, i) % {self.below}" if self.below else "zeros"
        return {"name": self.name, "type": self.of, "count": self.count, "fill": fill}

    def argument(self):
        return self.name


class Number:
    """An int parameter."""

    def __init__(self, name, value):
        self.name, self.value = name, value

    def declared(self):
        return f"int {self.name}"

    def argument(self):
        return self.value


def three(size):
    size = [size] if isinstance(size, int) else list(size)
    return size + [1] * (3 - len(size))
