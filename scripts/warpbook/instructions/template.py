"""The kernel around a PTX snippet, with one thread per row of operands."""

from dataclasses import dataclass

WORDS = 6  # per row of operands
RESULTS = 5  # words per row of results

HEAD = """.version 8.0
.target sm_90
.address_size 64
"""

KERNEL = """.visible .entry k{number}(.param .u64 rows, .param .u64 answers) {{
  .reg .b16 %h<8>;
  .reg .b32 %x<6>, %y<5>, %t<8>, %thread, %cell;
  .reg .b64 %a<3>, %d<3>, %row, %answer;
  .reg .pred %p<4>;
  .shared .align 8 .b8 cells[256];
  mov.u32 %thread, %tid.x;
  ld.param.u64 %row, [rows];
  ld.param.u64 %answer, [answers];
  mad.wide.u32 %row, %thread, 24, %row;
  mad.wide.u32 %answer, %thread, 20, %answer;
  mov.u32 %cell, cells;
  mad.lo.u32 %cell, %thread, 8, %cell;
{loads}
  mov.b64 %a0, {{%x0, %x1}};
  mov.b64 %a1, {{%x2, %x3}};
  mov.b64 %a2, {{%x4, %x5}};
  {code}
{stores}
  ret;
}}
"""


@dataclass
class Snippet:
    """A line of PTX that writes %y0 … %y4, and rows of operands for %x0 … %x5."""

    code: str
    rows: list

    def __post_init__(self):
        self.rows = [(list(row) + [0] * WORDS)[:WORDS] for row in self.rows]
        assert len(self.rows) <= 32


def module(snippets):
    return HEAD + "".join(kernel(number, snippet.code) for number, snippet in enumerate(snippets))


def kernel(number, code):
    loads = [f"  ld.global.u32 %x{n}, [%row+{4 * n}];" for n in range(WORDS)]
    loads += [f"  mov.u32 %y{n}, 0;" for n in range(RESULTS)]
    stores = [f"  st.global.u32 [%answer+{4 * n}], %y{n};" for n in range(RESULTS)]
    return KERNEL.format(number=number, code=code, loads="\n".join(loads), stores="\n".join(stores))
