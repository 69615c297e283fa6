//! The choices for memory instructions: regions, qualifiers, types and atomics.

use cuda_sim::ptx::ast::Type;

/// A region of memory that a thread may access.
#[derive(Clone, Copy)]
pub struct Region {
    /// The state space as written in instructions; empty for a generic address.
    pub space: &'static str,
    pub base: &'static str,
    /// The size, a power of two.
    pub bytes: u32,
    pub writable: bool,
}

const fn region(space: &'static str, base: &'static str, bytes: u32, writable: bool) -> Region {
    Region {
        space,
        base,
        bytes,
        writable,
    }
}

pub const REGIONS: [Region; 14] = [
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

pub const LOADS_GLOBAL: Qualifiers = &[
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
pub const LOADS_READ_ONLY: Qualifiers = &[
    (52, "", "nc"),
    (52, "", "ca.nc"),
    (52, "", "cg.nc"),
    (52, "", "cs.nc"),
    (70, "", "nc.L1::no_allocate"),
    (80, "", "nc.L1::evict_last.L2::128B"),
];

pub const LOADS_SHARED: Qualifiers = &[
    (52, "", ""),
    (70, "weak", ""),
    (52, "volatile", ""),
    (70, "relaxed.cta", ""),
    (70, "acquire.cta", ""),
];

pub const LOADS_GENERIC: Qualifiers = &[
    (52, "", ""),
    (52, "volatile", ""),
    (70, "weak", ""),
    (70, "relaxed.gpu", ""),
    (70, "acquire.sys", ""),
];

pub const PLAIN: Qualifiers = &[(52, "", "")];

pub const STORES_GLOBAL: Qualifiers = &[
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

pub const STORES_SHARED: Qualifiers = &[
    (52, "", ""),
    (70, "weak", ""),
    (52, "volatile", ""),
    (70, "relaxed.cta", ""),
    (70, "release.cta", ""),
];

pub const STORES_GENERIC: Qualifiers = &[
    (52, "", ""),
    (52, "volatile", ""),
    (70, "weak", ""),
    (70, "relaxed.gpu", ""),
    (70, "release.sys", ""),
];

/// Types of loads and stores.
pub const TYPES: [Type; 14] = [
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
pub const ATOMICS: [(&str, Type, u32); 35] = [
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
