//! The code around a kernel's body: declarations, a prologue that sets up addresses and initializes all
//! registers, and an epilogue that writes all state to the output.

use super::{Generator, bytes, prefix};
use crate::kernel::{Function, Kernel, Node, Slot};
use crate::values::Kind;

impl Generator<'_> {
    /// Completes the kernel with this body.
    pub fn finish(
        mut self,
        number: u64,
        grid: [u32; 3],
        functions: Vec<Function>,
        body: Vec<Node>,
    ) -> Kernel {
        let total = self.threads * grid.iter().product::<u32>();
        let prologue = self.prologue();
        let (epilogue, slots) = self.epilogue(total);
        let bytes = |generator: &mut Self| {
            let all: Vec<String> = (0..256)
                .map(|_| (generator.dice.bits() & 0xff).to_string())
                .collect();
            all.join(", ")
        };
        let mut head = format!(
            ".const .align 16 .b8 ctable[256] = {{{}}};\n.global .align 16 .b8 gtable[256] = {{{}}};\n",
            bytes(&mut self),
            bytes(&mut self)
        );
        head += ".global .align 8 .u64 gzero = 0;\n";
        head += &if self.dynamic {
            ".extern .shared .align 16 .b8 own[];\n".to_owned()
        } else {
            format!(".shared .align 16 .b8 own[{}];\n", 32 * self.threads)
        };
        head += &format!(
            ".shared .align 16 .b8 exchange[{}];\n.shared .align 16 .b8 cells[{}];\n.shared .align 16 .b8 matrices[{}];\n",
            8 * self.threads,
            8 * super::memory::MAX_CELLS,
            512 * self.threads.div_ceil(32),
        );
        Kernel {
            number,
            target: self.target,
            grid,
            block: self.block,
            dynamic_shared: if self.dynamic { 32 * self.threads } else { 0 },
            slots,
            cells: self.global_cells.clone(),
            head,
            functions,
            registers: self.registers(),
            prologue,
            body,
            epilogue,
        }
    }

    /// Returns the register declarations. Functions share them, although they need fewer registers.
    fn registers(&self) -> String {
        let pool_registers = Kind::ALL.map(|kind| {
            let bits = 8 * bytes(kind);
            format!(".reg .b{bits} {}<9>;\n", prefix(kind))
        });
        let (temporaries, masks) = (self.temporaries + 1, self.masks + 1);
        pool_registers.concat()
            + &format!(
                ".reg .pred %p<8>;
.reg .b32 %t<{temporaries}>;
.reg .b64 %u<{temporaries}>;
.reg .b16 %v<{temporaries}>;
.reg .pred %q<{temporaries}>;
.reg .b32 %m<{masks}>;
.reg .b64 %sum, %in64;
.reg .b32 %in32, %lane, %block, %zero32;
.reg .b16 %in8, %in16, %zero16;
.reg .b64 %zero64;
"
            )
    }

    fn prologue(&mut self) -> Vec<String> {
        let [x, y, _] = self.block;
        let threads = self.threads;
        let text = format!(
            ".reg .b32 %tid_linear, %thread, %mask, %remain, %matrices, %narrow_own, %n, %k;
.reg .b64 %out, %inputs, %scratch, %cells, %own, %local, %const, %table, %exchange, %at;
.reg .b64 %generic_scratch, %generic_own, %generic_local, %generic_const, %generic_table;
.reg .b64 %generic_cells, %generic_shared_cells, %params, %generic_params, %c<{cells}>;
.reg .pred %first;
.local .align 16 .b8 stack[64];
mov.u32 %n, %tid.z;
mad.lo.u32 %n, %n, {y}, 0;
mov.u32 %k, %tid.y;
add.u32 %n, %n, %k;
mov.u32 %k, %tid.x;
mad.lo.u32 %tid_linear, %n, {x}, %k;
mov.u32 %n, %ctaid.z;
mov.u32 %k, %nctaid.y;
mul.lo.u32 %n, %n, %k;
mov.u32 %k, %ctaid.y;
add.u32 %n, %n, %k;
mov.u32 %k, %nctaid.x;
mul.lo.u32 %n, %n, %k;
mov.u32 %k, %ctaid.x;
add.u32 %block, %n, %k;
mad.lo.u32 %thread, %block, {threads}, %tid_linear;
and.b32 %lane, %tid_linear, 31;
sub.u32 %n, %tid_linear, %lane;
sub.u32 %n, {threads}, %n;
mov.u32 %k, 1;
shl.b32 %k, %k, %n;
sub.u32 %mask, %k, 1;
ld.param.u64 %zero64, [zero];
cvt.u32.u64 %zero32, %zero64;
cvt.u16.u64 %zero16, %zero64;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mul.wide.u32 %at, %thread, 8;
add.s64 %out, %out, %at;
ld.param.u64 %inputs, [inputs];
cvta.to.global.u64 %inputs, %inputs;
ld.param.u64 %generic_scratch, [scratch];
mul.wide.u32 %at, %thread, 128;
add.s64 %generic_scratch, %generic_scratch, %at;
cvta.to.global.u64 %scratch, %generic_scratch;
ld.param.u64 %generic_cells, [global_cells];
cvta.to.global.u64 %cells, %generic_cells;
mov.u64 %own, own;
mul.wide.u32 %at, %tid_linear, 32;
add.s64 %own, %own, %at;
cvt.u32.u64 %narrow_own, %own;
cvta.{shared}.u64 %generic_own, %own;
mov.u64 %exchange, exchange;
mul.wide.u32 %at, %tid_linear, 8;
add.s64 %exchange, %exchange, %at;
mov.u32 %matrices, matrices;
shr.u32 %n, %tid_linear, 5;
mad.lo.u32 %matrices, %n, 512, %matrices;
mov.u64 %local, stack;
cvta.local.u64 %generic_local, %local;
mov.u64 %const, ctable;
cvta.const.u64 %generic_const, %const;
mov.u64 %table, gtable;
cvta.global.u64 %generic_table, %table;
mov.u64 %params, values;
{params}
mov.u64 %at, cells;
cvta.shared.u64 %generic_shared_cells, %at;
setp.eq.u32 %first, %tid_linear, 0;",
            cells = super::memory::MAX_CELLS,
            shared = self.spell_space("shared"),
            params = if self.target >= 70 {
                "cvta.param.u64 %generic_params, %params;"
            } else {
                ""
            },
        );
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // The initial values within a pool are distinct, and volatile loads hide them from the assembler: if
        // it knew that two registers are equal, it might use one for the other after one has changed (ptxas
        // of CUDA 13.0, from -O1 on).
        for kind in Kind::ALL {
            let salts = self.dice.sample(self.pools.count(kind), 64);
            for (register, salt) in salts.into_iter().enumerate() {
                lines.push(format!("add.u32 %n, %thread, {salt};"));
                lines.push("and.b32 %n, %n, 63;".to_owned());
                lines.push("mad.wide.u32 %at, %n, 8, %inputs;".to_owned());
                lines.push(format!(
                    "ld.volatile.global.b{} {}{register}, [%at+{}];",
                    8 * bytes(kind),
                    prefix(kind),
                    512 * kind as usize
                ));
            }
        }
        for register in 0..self.pools.predicates() {
            lines.push(format!("setp.lt.s32 %p{register}, %r{register}, 0;"));
        }
        for word in 0..8 {
            lines.push(format!(
                "st.local.b64 [%local+{}], %l{};",
                8 * word,
                word % 4
            ));
        }
        for word in 0..4 {
            lines.push(format!("st.shared.b64 [%own+{}], %e{};", 8 * word, word));
        }
        lines.push("st.shared.b64 [%exchange], %l0;".to_owned());
        for (cell, first) in self.shared_cells.iter().enumerate() {
            lines.push(format!("mov.b64 %at, 0x{first:x};"));
            lines.push(format!("@%first st.shared.b64 [cells+{}], %at;", 8 * cell));
            lines.push(format!("mov.b64 %c{cell}, 0;"));
        }
        for (n, slot) in self.approximate.iter().enumerate() {
            if let Slot::Approximate { operands, .. } = slot {
                let mut names: Vec<String> = (0..*operands)
                    .map(|operand| format!("%A{n}_{operand}"))
                    .collect();
                names.push(format!("%A{n}_r"));
                lines.insert(0, format!(".reg .b64 {};", names.join(", ")));
                lines.extend(names.iter().map(|name| format!("mov.b64 {name}, 0;")));
            }
        }
        lines.push("bar.sync 0;".to_owned());
        lines
    }

    /// Generates the epilogue, which writes all state to the output, slot by slot.
    fn epilogue(&self, total: u32) -> (Vec<String>, Vec<Slot>) {
        let mut lines = vec!["bar.warp.sync %mask;".to_owned(), "bar.sync 0;".to_owned()];
        for cell in 0..self.shared_cells.len() {
            lines.push(format!(
                "@%first ld.shared.b64 %c{cell}, [cells+{}];",
                8 * cell
            ));
        }
        let mut slots = Vec::new();
        let mut add_slot = |lines: &mut Vec<String>, register: &str, slot: Slot| {
            let offset = 8 * u64::from(total) * slots.len() as u64;
            lines.push(format!("st.global.b64 [%out+{offset}], {register};"));
            slots.push(slot);
        };
        for kind in Kind::ALL {
            for register in 0..self.pools.count(kind) {
                let name = format!("{}{register}", prefix(kind));
                lines.push(match bytes(kind) {
                    2 => format!("cvt.u64.u16 %at, {name};"),
                    4 => format!("cvt.u64.u32 %at, {name};"),
                    _ => format!("mov.b64 %at, {name};"),
                });
                add_slot(&mut lines, "%at", Slot::Exact(name));
            }
        }
        lines.push("mov.u32 %n, 0;".to_owned());
        for register in 0..self.pools.predicates() {
            lines.push(format!("selp.u32 %k, {}, 0, %p{register};", 1 << register));
            lines.push("or.b32 %n, %n, %k;".to_owned());
        }
        lines.push("cvt.u64.u32 %at, %n;".to_owned());
        add_slot(&mut lines, "%at", Slot::Exact("%p".to_owned()));
        let regions = [
            ("shared", "%own", 4),
            ("local", "%local", 8),
            ("global", "%scratch", 10),
        ];
        for (space, base, words) in regions {
            for word in 0..words {
                lines.push(format!("ld.{space}.b64 %at, [{base}+{}];", 8 * word));
                add_slot(&mut lines, "%at", Slot::Exact(format!("{space}[{word}]")));
            }
        }
        for cell in 0..self.shared_cells.len() {
            add_slot(
                &mut lines,
                &format!("%c{cell}"),
                Slot::Exact(format!("shared cell {cell}")),
            );
        }
        for (n, slot) in self.approximate.iter().enumerate() {
            if let Slot::Approximate { operands, .. } = slot {
                for operand in 0..*operands {
                    let name = format!("%A{n}_{operand}");
                    add_slot(&mut lines, &name, Slot::Exact(name.clone()));
                }
                add_slot(&mut lines, &format!("%A{n}_r"), slot.clone());
            }
        }
        lines.push("ret;".to_owned());
        (lines, slots)
    }
}
