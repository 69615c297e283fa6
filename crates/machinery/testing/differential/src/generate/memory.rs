//! Loads, stores, addresses and atomics. Each thread has a private part of global, shared and local memory,
//! which it writes; tables in global, constant and parameter memory are read by all threads.

use super::{Context, Generator};
use crate::kernel::Node;
use cuda_sim::ptx::ast::Type;

/// Maximum number of contended cells of a kernel, in global and in shared memory each.
pub const MAX_CELLS: usize = 32;

impl Generator<'_> {
    /// Generates a load, a store, or an `isspacep`.
    pub fn access(&mut self) -> Node {
        if self.dice.chance(8) {
            return self.isspacep();
        }
        let region = loop {
            let region = REGIONS[self.dice.below(REGIONS.len())];
            if region.base != "%generic_params" || self.target >= 70 {
                break region;
            }
        };
        if region.writable && self.dice.chance(50) {
            self.store(region)
        } else {
            self.load(region)
        }
    }

    fn load(&mut self, region: Region) -> Node {
        let qualifiers = match region.space {
            "global" if !region.writable && self.dice.chance(60) => LOADS_READ_ONLY,
            "global" => LOADS_GLOBAL,
            "shared" => LOADS_SHARED,
            "" if region.writable => LOADS_GENERIC,
            _ => PLAIN,
        };
        let (ty, count) = self.element();
        let mut lines = Vec::new();
        let address = self.address(region, ty.bytes() * count, &mut lines);
        let is_ldu = qualifiers[0].2 == "nc" && self.dice.chance(15);
        let name = if is_ldu {
            "ldu.global".to_owned()
        } else {
            self.access_name("ld", region, qualifiers)
        };
        let width = self.register_width(ty);
        let to = self.distinct_registers(ty, width, count as usize);
        let guard = self.guard();
        lines.push(format!(
            "{guard}{name}{}.{} {}, {address};",
            vector(count),
            ty.modifier(),
            operand_list(&to)
        ));
        self.code(lines)
    }

    fn store(&mut self, region: Region) -> Node {
        let qualifiers = match region.space {
            "global" => STORES_GLOBAL,
            "shared" => STORES_SHARED,
            "" => STORES_GENERIC,
            _ => PLAIN,
        };
        let (ty, count) = self.element();
        let mut lines = Vec::new();
        let address = self.address(region, ty.bytes() * count, &mut lines);
        let name = self.access_name("st", region, qualifiers);
        let width = self.register_width(ty);
        let mut from = Vec::new();
        for _ in 0..count {
            let register = self.register(ty, width);
            from.push(self.opaque_bits(register, ty, width, &mut lines));
        }
        let guard = self.guard();
        lines.push(format!(
            "{guard}{name}{}.{} {address}, {};",
            vector(count),
            ty.modifier(),
            operand_list(&from)
        ));
        self.code(lines)
    }

    fn element(&mut self) -> (Type, u32) {
        loop {
            let ty = TYPES[self.dice.below(TYPES.len())];
            let count = [1, 1, 2, 4][self.dice.below(4)];
            if ty.bytes() * count <= 16 {
                return (ty, count);
            }
        }
    }

    /// Returns the width in bytes of a register for an element. Integers may use a wider one.
    fn register_width(&mut self, ty: Type) -> u32 {
        let natural = ty.bytes().max(2);
        match ty {
            Type::F32 | Type::F64 => natural,
            _ => [natural, natural, (2 * natural).min(8), 8][self.dice.below(4)],
        }
    }

    /// Returns a state space's name, sometimes in its long spelling.
    pub fn spell_space(&mut self, space: &'static str) -> &'static str {
        match space {
            "shared" if self.target >= 70 && self.dice.chance(20) => "shared::cta",
            space => space,
        }
    }

    fn access_name(&mut self, mnemonic: &str, region: Region, qualifiers: Qualifiers) -> String {
        let target = self.target;
        let fits: Vec<_> = qualifiers
            .iter()
            .filter(|entry| entry.0 <= target)
            .collect();
        let &&(_, before, after) = &fits[self.dice.below(fits.len())];
        let space = self.spell_space(region.space);
        let parts = [mnemonic, before, space, after];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(".")
    }

    /// Generates an address in a region, aligned for the access: with a constant offset, or with an offset
    /// from a register.
    fn address(&mut self, region: Region, bytes: u32, lines: &mut Vec<String>) -> String {
        let slots = (region.bytes / bytes) as usize;
        if region.space == "param" && self.dice.chance(40) {
            return format!("[values+{}]", bytes as usize * self.dice.below(slots));
        }
        let mut base = region.base.to_owned();
        if region.base.starts_with("%narrow") {
            // 32-bit addresses have no generic form.
        } else if matches!(region.space, "shared" | "local" | "const") && self.dice.chance(20) {
            base = self.temporary('u');
            let generic = region.base.replace('%', "%generic_");
            let space = self.spell_space(region.space);
            lines.push(format!("cvta.to.{space}.u64 {base}, {generic};"));
        } else if region.space == "param" && self.target >= 70 && self.dice.chance(30) {
            base = self.temporary('u');
            lines.push(format!("cvta.to.param.u64 {base}, %generic_params;"));
        } else if region.base == "%generic_own" && self.dice.chance(40) {
            // The space differs between threads.
            base = self.temporary('u');
            let other = ["%generic_scratch", "%generic_local"][self.dice.below(2)];
            let predicate = self.predicate();
            lines.push(format!(
                "selp.b64 {base}, %generic_own, {other}, {predicate};"
            ));
        }
        if self.dice.chance(50) {
            let offset = bytes as usize * self.dice.below(slots);
            return match offset {
                0 if self.dice.chance(50) => format!("[{base}]"),
                _ => format!("[{base}+{offset}]"),
            };
        }
        let index = self.register(Type::U32, 4);
        let slot = self.temporary('t');
        lines.push(format!("and.b32 {slot}, {index}, {};", slots - 1));
        if base == "%narrow_own" {
            let sum = self.temporary('t');
            lines.push(format!("mad.lo.u32 {sum}, {slot}, {bytes}, {base};"));
            return format!("[{sum}]");
        }
        let sum = self.temporary('u');
        if self.dice.chance(30) && slots > 1 {
            lines.push(format!("sub.u32 {slot}, {slot}, {};", slots - 1));
            lines.push(format!("mul.wide.s32 {sum}, {slot}, {bytes};"));
            lines.push(format!("add.s64 {sum}, {sum}, {base};"));
            return format!("[{sum}+{}]", bytes as usize * (slots - 1));
        }
        lines.push(format!("mad.wide.u32 {sum}, {slot}, {bytes}, {base};"));
        format!("[{sum}]")
    }

    /// Generates an `isspacep` of one of several addresses.
    fn isspacep(&mut self) -> Node {
        let addresses = [
            "%generic_scratch",
            "%generic_own",
            "%generic_local",
            "%generic_table",
        ];
        let spaces = ["global", "shared", "local", "const", "shared::cta", "param"];
        let count = if self.target >= 70 { 6 } else { 4 };
        let space = spaces[self.dice.below(count)];
        let [a, b] = [self.dice.choose(&addresses), self.dice.choose(&addresses)];
        let address = self.temporary('u');
        let (choice, result) = (self.predicate(), self.predicate());
        let lines = vec![
            format!("selp.b64 {address}, {a}, {b}, {choice};"),
            format!("isspacep.{space} {result}, {address};"),
        ];
        self.code(lines)
    }

    /// Generates an atomic, either on the thread's private cell or on one that all threads share. The result
    /// on a shared cell must not depend on the order of the threads.
    pub fn atomic(&mut self) -> Node {
        let (operation, ty) = loop {
            let (operation, ty, target) = ATOMICS[self.dice.below(ATOMICS.len())];
            if target <= self.target {
                break (operation, ty);
            }
        };
        let mut lines = Vec::new();
        let is_private = matches!(operation, "exch" | "cas" | "add.noftz") || self.dice.chance(50);
        let (space, address) = if is_private {
            // Float and integer atomics use the same cells, because each reads the bits as its own type.
            match self.dice.below(4) {
                0 => ("global", "[%scratch+64]".to_owned()),
                1 => ("shared", "[%own+8]".to_owned()),
                2 => ("", "[%generic_own+16]".to_owned()),
                _ => ("", "[%generic_scratch+72]".to_owned()),
            }
        } else {
            match self.contended_cell(operation, ty) {
                Some(cell) => cell,
                None => return self.operation(),
            }
        };
        let returns = is_private && self.dice.chance(80);
        let mut b = self.register(ty, ty.bytes());
        if !is_private {
            b = self.commutative_operand(operation, ty, b, &mut lines);
        } else if operation == "add" && ty == Type::F64 {
            // PTX does not specify which of two NaNs a sum in shared memory returns.
            let (number, is_nan) = (self.temporary('u'), self.temporary('q'));
            lines.push(format!("testp.notanumber.f64 {is_nan}, {b};"));
            lines.push(format!(
                "selp.b64 {number}, 0x3ff0000000000000, {b}, {is_nan};"
            ));
            b = number;
        }
        let to = if returns || matches!(operation, "exch" | "cas") {
            Some(self.register(ty, ty.bytes()))
        } else {
            None
        };
        let mnemonic = if to.is_some() { "atom" } else { "red" };
        let order = if self.target >= 70 {
            let qualifiers = ["", "", ".relaxed", ".acquire", ".release", ".acq_rel"];
            // A reduction returns no value, so it has no acquire semantics.
            let count = if to.is_some() { 6 } else { 3 };
            qualifiers[self.dice.below(count)]
        } else {
            ""
        };
        let scopes: &[&str] = match self.target {
            52 => &[""],
            90 => &["", ".cta", ".gpu", ".sys", ".cluster"],
            _ => &["", ".cta", ".gpu", ".sys"],
        };
        let mut scope = scopes[self.dice.below(scopes.len())];
        if !is_private && scope == ".cta" && space != "shared" {
            scope = ".gpu";
        }
        if !order.is_empty() && scope.is_empty() {
            scope = ".gpu";
        }
        let space = match space {
            "" => "",
            "shared" if self.spell_space("shared") == "shared" => ".shared",
            "shared" => ".shared::cta",
            _ => ".global",
        };
        let c = match operation {
            "cas" => format!(", {}", self.register(ty, ty.bytes())),
            _ => String::new(),
        };
        let to = to.map_or(String::new(), |to| format!("{to}, "));
        let guard = self.guard();
        lines.push(format!(
            "{guard}{mnemonic}{order}{scope}{space}.{operation}.{} {to}{address}, {b}{c};",
            ty.modifier()
        ));
        self.code(lines)
    }

    /// Allocates a new cell in global or shared memory for this operation alone.
    fn contended_cell(&mut self, operation: &str, ty: Type) -> Option<(&'static str, String)> {
        let first = match (operation, ty) {
            ("add", Type::F32 | Type::F64) => 0,
            _ => self.dice.bits() >> (64 - 8 * ty.bytes()),
        };
        let global = self.dice.chance(50);
        let cells = if global {
            &mut self.global_cells
        } else {
            &mut self.shared_cells
        };
        if cells.len() >= MAX_CELLS {
            return None;
        }
        cells.push(first);
        let offset = 8 * (cells.len() - 1);
        let generic = self.dice.chance(30);
        Some(match (global, generic) {
            (true, false) => ("global", format!("[%cells+{offset}]")),
            (true, true) => ("", format!("[%generic_cells+{offset}]")),
            (false, false) => ("shared", format!("[cells+{offset}]")),
            (false, true) => ("", format!("[%generic_shared_cells+{offset}]")),
        })
    }

    /// Returns an operand for which the operation's result does not depend on the order of the threads.
    fn commutative_operand(
        &mut self,
        operation: &str,
        ty: Type,
        b: String,
        lines: &mut Vec<String>,
    ) -> String {
        match (operation, ty) {
            // Sums of small integers are exact.
            ("add", Type::F32 | Type::F64) => {
                let source = self.register(Type::U32, 4);
                let small = self.temporary('t');
                let float = self.temporary(if ty == Type::F32 { 't' } else { 'u' });
                lines.push(format!("and.b32 {small}, {source}, 255;"));
                lines.push(format!("cvt.rn.{}.u32 {float}, {small};", ty.modifier()));
                float
            }
            // All threads must count to the same bound.
            ("inc" | "dec", _) => self.dice.between(1, 300).to_string(),
            _ => b,
        }
    }

    /// Generates a read of a special register that has the same value on every GPU.
    pub fn special(&mut self) -> Node {
        const SPECIALS: [&str; 20] = [
            "%tid.x",
            "%tid.y",
            "%tid.z",
            "%ntid.x",
            "%ntid.y",
            "%ntid.z",
            "%ctaid.x",
            "%ctaid.y",
            "%ctaid.z",
            "%nctaid.x",
            "%nctaid.y",
            "%nctaid.z",
            "%laneid",
            "%lanemask_eq",
            "%lanemask_le",
            "%lanemask_lt",
            "%lanemask_ge",
            "%lanemask_gt",
            "%dynamic_smem_size",
            "WARP_SZ",
        ];
        let special = self.dice.choose(&SPECIALS);
        let to = self.register(Type::U32, 4);
        let guard = self.guard();
        let line = match self.dice.below(3) {
            0 if special != "WARP_SZ" => {
                let wide = self.register(Type::U64, 8);
                format!("{guard}cvt.u64.u32 {wide}, {special};")
            }
            _ => format!("{guard}mov.u32 {to}, {special};"),
        };
        self.code(vec![line])
    }

    /// Generates an instruction that changes no value.
    pub fn no_effect(&mut self, context: &Context) -> Node {
        let mut lines: Vec<String> = ["membar.cta;", "membar.gl;", "membar.sys;", "pmevent 3;"]
            .map(str::to_owned)
            .to_vec();
        lines.push("prefetchu.L1 [%generic_table];".to_owned());
        lines.push("prefetch.global.L1 [%inputs+64];".to_owned());
        lines.push("prefetch.global.L2 [%table];".to_owned());
        lines.push("prefetch.L2 [%generic_scratch];".to_owned());
        if self.target >= 70 {
            lines.extend(
                [
                    "fence.sc.cta;",
                    "fence.sc.gpu;",
                    "fence.acq_rel.cta;",
                    "fence.acq_rel.sys;",
                    "nanosleep.u32 20;",
                ]
                .map(str::to_owned),
            );
        }
        if self.target >= 80 {
            lines.push("applypriority.global.L2::evict_normal [%table], 128;".to_owned());
        }
        if self.target >= 80 && context.kernel && self.dice.chance(20) {
            let (policy, to) = (self.temporary('u'), self.register(Type::U32, 4));
            return self.code(vec![
                format!("createpolicy.fractional.L2::evict_last.b64 {policy}, 0.5;"),
                format!("ld.global.L2::cache_hint.u32 {to}, [%table], {policy};"),
            ]);
        }
        if !context.kernel {
            lines.retain(|line| !line.contains('%'));
        }
        let line = lines.swap_remove(self.dice.below(lines.len()));
        self.code(vec![line])
    }
}

fn vector(count: u32) -> &'static str {
    match count {
        1 => "",
        2 => ".v2",
        _ => ".v4",
    }
}

fn operand_list(registers: &[String]) -> String {
    match registers {
        [register] => register.clone(),
        several => format!("{{{}}}", several.join(", ")),
    }
}

/// A region of memory that a thread may access.
#[derive(Clone, Copy)]
struct Region {
    /// The state space as written in instructions; empty for a generic address.
    space: &'static str,
    base: &'static str,
    /// The size, a power of two.
    bytes: u32,
    writable: bool,
}

const fn region(space: &'static str, base: &'static str, bytes: u32, writable: bool) -> Region {
    Region {
        space,
        base,
        bytes,
        writable,
    }
}

const REGIONS: [Region; 14] = [
    region("global", "%scratch", 64, true),
    region("global", "%scratch", 64, true),
    region("shared", "%own", 32, true),
    region("shared", "%narrow_own", 32, true),
    region("local", "%local", 64, true),
    region("const", "%const", 256, false),
    region("global", "%table", 256, false),
    region("global", "%inputs", 2048, false),
    region("param", "%params", 32, false),
    region("", "%generic_scratch", 64, true),
    region("", "%generic_own", 32, true),
    region("", "%generic_local", 64, true),
    region("", "%generic_const", 256, false),
    region("", "%generic_params", 32, false),
];

/// Qualifiers of a load or store: the oldest target, the qualifier before the space, and the one after it.
pub type Qualifiers = &'static [(u32, &'static str, &'static str)];

const LOADS_GLOBAL: Qualifiers = &[
    (52, "", ""),
    (70, "weak", ""),
    (52, "volatile", ""),
    (52, "", "ca"),
    (52, "", "cg"),
    (52, "", "cs"),
    (52, "", "lu"),
    (52, "", "cv"),
    (70, "relaxed.cta", ""),
    (70, "relaxed.gpu", ""),
    (70, "relaxed.sys", ""),
    (90, "relaxed.cluster", ""),
    (70, "acquire.cta", ""),
    (70, "acquire.gpu", ""),
    (70, "acquire.sys", ""),
    (70, "", "L1::evict_normal"),
    (70, "", "L1::evict_unchanged"),
    (70, "", "L1::evict_first"),
    (70, "", "L1::evict_last"),
    (70, "", "L1::no_allocate"),
    (80, "", "L2::64B"),
    (80, "", "L2::128B"),
    (80, "", "L2::256B"),
];

/// Qualifiers of loads from memory that is never written.
const LOADS_READ_ONLY: Qualifiers = &[
    (52, "", "nc"),
    (52, "", "ca.nc"),
    (52, "", "cg.nc"),
    (52, "", "cs.nc"),
    (70, "", "nc.L1::no_allocate"),
    (80, "", "nc.L1::evict_last.L2::128B"),
];

const LOADS_SHARED: Qualifiers = &[
    (52, "", ""),
    (70, "weak", ""),
    (52, "volatile", ""),
    (70, "relaxed.cta", ""),
    (70, "acquire.cta", ""),
];

const LOADS_GENERIC: Qualifiers = &[
    (52, "", ""),
    (52, "volatile", ""),
    (70, "weak", ""),
    (70, "relaxed.gpu", ""),
    (70, "acquire.sys", ""),
];

const PLAIN: Qualifiers = &[(52, "", "")];

const STORES_GLOBAL: Qualifiers = &[
    (52, "", ""),
    (70, "weak", ""),
    (52, "volatile", ""),
    (52, "", "wb"),
    (52, "", "cg"),
    (52, "", "cs"),
    (52, "", "wt"),
    (70, "relaxed.cta", ""),
    (70, "relaxed.gpu", ""),
    (70, "relaxed.sys", ""),
    (90, "release.cluster", ""),
    (70, "release.cta", ""),
    (70, "release.gpu", ""),
    (70, "release.sys", ""),
    (70, "", "L1::evict_normal"),
    (70, "", "L1::evict_unchanged"),
    (70, "", "L1::evict_first"),
    (70, "", "L1::evict_last"),
    (70, "", "L1::no_allocate"),
];

const STORES_SHARED: Qualifiers = &[
    (52, "", ""),
    (70, "weak", ""),
    (52, "volatile", ""),
    (70, "relaxed.cta", ""),
    (70, "release.cta", ""),
];

const STORES_GENERIC: Qualifiers = &[
    (52, "", ""),
    (52, "volatile", ""),
    (70, "weak", ""),
    (70, "relaxed.gpu", ""),
    (70, "release.sys", ""),
];

/// Types of loads and stores.
const TYPES: [Type; 14] = [
    Type::B8,
    Type::U8,
    Type::S8,
    Type::B16,
    Type::U16,
    Type::S16,
    Type::B32,
    Type::U32,
    Type::S32,
    Type::F32,
    Type::B64,
    Type::U64,
    Type::S64,
    Type::F64,
];

/// Atomic operations, each with its type and its oldest target.
const ATOMICS: [(&str, Type, u32); 35] = [
    ("add", Type::U32, 52),
    ("add", Type::S32, 52),
    ("add", Type::U64, 52),
    ("add", Type::F32, 52),
    ("add", Type::F64, 70),
    ("and", Type::B32, 52),
    ("and", Type::B64, 52),
    ("or", Type::B32, 52),
    ("or", Type::B64, 52),
    ("xor", Type::B32, 52),
    ("xor", Type::B64, 52),
    ("min", Type::U32, 52),
    ("min", Type::S32, 52),
    ("min", Type::U64, 52),
    ("min", Type::S64, 52),
    ("max", Type::U32, 52),
    ("max", Type::S32, 52),
    ("max", Type::U64, 52),
    ("max", Type::S64, 52),
    ("inc", Type::U32, 52),
    ("dec", Type::U32, 52),
    ("exch", Type::B32, 52),
    ("exch", Type::B64, 52),
    ("cas", Type::B32, 52),
    ("cas", Type::B64, 52),
    ("add", Type::F32, 52),
    ("add", Type::F32, 52),
    ("add", Type::F64, 70),
    ("inc", Type::U32, 52),
    ("dec", Type::U32, 52),
    ("add.noftz", Type::F16, 70),
    ("add.noftz", Type::F16x2, 70),
    ("add.noftz", Type::BF16, 90),
    ("add.noftz", Type::BF16x2, 90),
    ("cas", Type::B16, 70),
];
