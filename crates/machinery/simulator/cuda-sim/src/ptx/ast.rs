//! The abstract syntax tree of a PTX module.
//!
//! Instructions stay generic (a mnemonic, dotted modifiers and operands): `lower` alone decides which
//! combinations exist and what they do. Names borrow from the source text. Source: PTX ISA sections 4
//! (syntax), 5 (state spaces, types, variables) and 6.4 (operands).

/// A PTX module.
#[derive(Debug, Clone, PartialEq)]
pub struct Module<'a> {
    /// `.version major.minor`
    pub version: (u32, u32),
    /// The architecture, which is the first entry of `.target sm_52, …`.
    pub target: Target<'a>,
    /// The `.file` table: index and path.
    pub files: Vec<(u32, String)>,
    pub variables: Vec<Variable<'a>>,
    pub functions: Vec<Function<'a>>,
    pub aliases: Vec<Alias<'a>>,
}

/// An alternative name of a device function: `.alias name, function;`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias<'a> {
    pub name: &'a str,
    pub function: &'a str,
    pub line: u32,
}

/// The target architecture: `.target sm_90a, debug` is `{ sm: 90, name: "sm_90a" }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    pub sm: u32,
    pub name: &'a str,
}

/// A state space (PTX ISA section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateSpace {
    Const,
    Global,
    Local,
    Param,
    Shared,
}

/// A fundamental type (PTX ISA section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U16x2,
    U32,
    U64,
    S8,
    S16,
    S16x2,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F32x2,
    F64,
    Pred,
}

impl Type {
    const NAMES: [(&'static str, Type); 23] = [
        ("b8", Type::B8),
        ("b16", Type::B16),
        ("b32", Type::B32),
        ("b64", Type::B64),
        ("b128", Type::B128),
        ("u8", Type::U8),
        ("u16", Type::U16),
        ("u16x2", Type::U16x2),
        ("u32", Type::U32),
        ("u64", Type::U64),
        ("s8", Type::S8),
        ("s16", Type::S16),
        ("s16x2", Type::S16x2),
        ("s32", Type::S32),
        ("s64", Type::S64),
        ("f16", Type::F16),
        ("f16x2", Type::F16x2),
        ("bf16", Type::BF16),
        ("bf16x2", Type::BF16x2),
        ("f32", Type::F32),
        ("f32x2", Type::F32x2),
        ("f64", Type::F64),
        ("pred", Type::Pred),
    ];

    /// Returns the type that a modifier names, without its dot: `"u32"`.
    pub fn from_modifier(text: &str) -> Option<Type> {
        Self::NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, ty)| *ty)
    }

    /// Returns true if the modifier names a PTX type that the simulator cannot represent in a register.
    pub fn is_unsupported(text: &str) -> bool {
        const OTHERS: [&str; 22] = [
            "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2", "e4m3x4", "e5m2x4", "e3m2x2", "e2m3x2",
            "e3m2x4", "e2m3x4", "e2m1x2", "e2m1x4", "ue8m0", "ue8m0x2", "s2f6x2", "u8x4", "s8x4",
            "u4", "s4", "b1", "b4x16",
        ];
        OTHERS.contains(&text)
    }

    /// Returns the type's name in PTX, without its dot.
    pub fn modifier(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, ty)| *ty == self)
            .map_or("", |(name, _)| name)
    }

    /// Returns the size in memory in bytes; 0 for a predicate.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Pred => 0,
            Type::B8 | Type::U8 | Type::S8 => 1,
            Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::BF16 => 2,
            Type::B32 | Type::U32 | Type::S32 | Type::F32 => 4,
            Type::U16x2 | Type::S16x2 | Type::F16x2 | Type::BF16x2 => 4,
            Type::B64 | Type::U64 | Type::S64 | Type::F64 | Type::F32x2 => 8,
            Type::B128 => 16,
        }
    }

    /// Returns true for two's complement integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::S8 | Type::S16 | Type::S32 | Type::S64)
    }

    /// Returns true for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Type::F16
                | Type::F16x2
                | Type::BF16
                | Type::BF16x2
                | Type::F32
                | Type::F32x2
                | Type::F64
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linkage {
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A variable in memory at module scope or function scope (`.shared`, `.local`, `.param`), or a formal
/// parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable<'a> {
    pub name: &'a str,
    pub space: StateSpace,
    /// True for a parameter or result that is a register (`.reg .u32 a`). Its `space` is `Param`.
    pub register: bool,
    /// True for a variable in managed memory (`.attribute(.managed)`).
    pub managed: bool,
    pub linkage: Linkage,
    /// The alignment in bytes: from `.align`, or else the size of the type times the vector length.
    pub align: u32,
    /// The type; of a reference, that of its handle.
    pub ty: Type,
    /// The kind of a texture or surface reference; `None` for other variables.
    pub reference: Option<ImageReference>,
    /// The vector length: 1, or 2 or 4 for `.v2` and `.v4`.
    pub vector: u32,
    /// The array dimensions: `[4][8]` is `[4, 8]`, a scalar has none, and an unsized `[]` is `[0]`.
    pub dims: Vec<u64>,
    /// True for a parameterized name: `.param .b32 p<3>` declares `p0`, `p1` and `p2`, which are stored like the
    /// elements of an array. Its `dims` is the number of variables.
    pub is_range: bool,
    /// The initial values, flattened in row-major order. Missing values at the end are zero; empty if there
    /// is no initializer.
    pub init: Vec<Initializer<'a>>,
    pub line: u32,
}

impl Variable<'_> {
    /// Returns the size of one element in bytes.
    pub fn element_bytes(&self) -> u64 {
        u64::from(self.ty.bytes()) * u64::from(self.vector)
    }

    /// Returns the size in bytes; `None` if it is 2⁴⁸ bytes or more.
    pub fn bytes(&self) -> Option<u64> {
        let mut counts = self.dims.iter();
        let bytes = counts.try_fold(self.element_bytes(), |bytes, &count| {
            bytes.checked_mul(count)
        })?;
        (bytes < 1 << 48).then_some(bytes)
    }
}

/// A variable that names an image, which the program binds through the driver (PTX ISA section 5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageReference {
    /// `.texref`, in the unified mode a texture with its sampling modes.
    Texture,
    /// `.surfref`
    Surface,
}

impl ImageReference {
    /// Returns the directive that declares it, without its dot.
    pub fn directive(self) -> &'static str {
        match self {
            Self::Texture => "texref",
            Self::Surface => "surfref",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Initializer<'a> {
    Value(Immediate),
    /// The address of `symbol` plus `addend`, or of `generic(symbol)` if `generic`. With a `mask`, as in
    /// `0xff00(symbol)`, only the masked bits of the address, shifted down to bit 0.
    Address {
        symbol: &'a str,
        addend: i64,
        generic: bool,
        mask: Option<u64>,
    },
}

/// A kernel (`.entry`) or a device function (`.func`).
#[derive(Debug, Clone, PartialEq)]
pub struct Function<'a> {
    pub name: &'a str,
    pub entry: bool,
    pub linkage: Linkage,
    pub noreturn: bool,
    /// The results, which are registers or parameters: `.func (.param .b32 r) f`.
    pub returns: Vec<Variable<'a>>,
    pub params: Vec<Variable<'a>>,
    /// `.maxntid x, y, z`
    pub max_threads: Option<[u32; 3]>,
    /// `.reqntid x, y, z`
    pub required_threads: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub min_blocks_per_sm: Option<u32>,
    /// `.reqnctapercluster x, y, z`
    pub required_cluster: Option<[u32; 3]>,
    /// True with `.explicitcluster`: a launch must specify the size of its clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`
    pub max_cluster_rank: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// The body; `None` for a declaration.
    pub body: Option<Vec<Statement<'a>>>,
    pub line: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement<'a> {
    Label(&'a str),
    /// A register declaration. `.reg .b32 %r<5>;` is one declaration with `count: Some(5)`; `.reg .b32 a, b;`
    /// is two. `vector` is 1, or 2 or 4 for `.v2` and `.v4`.
    Register {
        name: &'a str,
        count: Option<u32>,
        ty: Type,
        vector: u32,
    },
    Variable(Variable<'a>),
    Instruction(Instruction<'a>),
    /// A nested scope: `{ … }`.
    Block(Vec<Statement<'a>>),
    /// `name: .branchtargets a, b;`
    BranchTargets {
        name: &'a str,
        labels: Vec<&'a str>,
    },
    /// `name: .calltargets f, g;`
    CallTargets {
        name: &'a str,
        functions: Vec<&'a str>,
    },
    /// `name: .callprototype (.param .b32 _) _ (.param .b32 _);`
    CallPrototype {
        name: &'a str,
        returns: Vec<Variable<'a>>,
        params: Vec<Variable<'a>>,
    },
}

/// An instruction, for example `@!%p1 ld.global.v2.f32 {%f1, %f2}, [%rd1+8];`.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction<'a> {
    pub guard: Option<Guard<'a>>,
    /// The mnemonic, for example `ld`.
    pub mnemonic: &'a str,
    /// The modifiers, for example `["global", "v2", "f32"]`. `::` is part of its modifier (`"shared::cta"`).
    pub modifiers: Vec<&'a str>,
    pub operands: Vec<Operand<'a>>,
    /// The line in the PTX text, counted from 1.
    pub line: u32,
    /// The source location of the preceding `.loc`.
    pub location: Option<SourceLocation>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard<'a> {
    pub register: &'a str,
    pub negated: bool,
}

/// A location in the CUDA C source: `.loc file line column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceLocation {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand<'a> {
    /// A register, special register (`%tid.x`), variable, function or label, plus an `offset` as in
    /// `mov.u64 %rd1, table+4`.
    Name {
        name: &'a str,
        offset: i64,
    },
    /// An element of a vector register. The parser reads `v.y` as a `Name`, because it does not know the
    /// declarations.
    Element {
        vector: &'a str,
        index: usize,
    },
    /// An element of an array in memory: `table[2]`, `table[%r1]`, `table[%r1+2]`. The index is the sum of
    /// `register` and `index`.
    ArrayElement {
        array: &'a str,
        register: Option<&'a str>,
        index: i64,
    },
    /// A negated predicate: `!%p1`.
    Not(&'a str),
    /// A negated register of `vmad`: `-%r1`.
    Negated(&'a str),
    /// A register with the selector or mask of a video instruction: `%r1.b0`, `%r1.h10`.
    Selected {
        name: &'a str,
        negated: bool,
        selector: &'a str,
    },
    Immediate(Immediate),
    /// A memory address: `[%rd1+8]`, `[table+4]`, `[1024]`.
    Address {
        base: AddressBase<'a>,
        offset: i64,
    },
    /// Coordinates in a texture or surface: `[%rd1, {%f1, %f2}]`.
    TextureCoordinates {
        image: &'a str,
        coordinates: Vec<Operand<'a>>,
    },
    /// A vector: `{%r1, %r2}`, `{_, 5}`.
    Vector(Vec<Operand<'a>>),
    /// A pair of destinations: `%p1|%p2`.
    Pair(&'a str, &'a str),
    /// The arguments or results of a `call`: `(a, b)`.
    List(Vec<Operand<'a>>),
    /// An ignored destination: `_`.
    Sink,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AddressBase<'a> {
    Name(&'a str),
    /// An element of an array, whose index is in a register. The parser reads an `Operand::ArrayElement`,
    /// because it does not know the size of an element.
    Indexed {
        array: &'a str,
        register: &'a str,
        element_bytes: u64,
    },
    Absolute,
}

impl<'a> AddressBase<'a> {
    /// Returns the name, or `None` for an absolute address or an element of an array.
    pub fn name(self) -> Option<&'a str> {
        match self {
            AddressBase::Name(name) => Some(name),
            AddressBase::Indexed { .. } | AddressBase::Absolute => None,
        }
    }
}

/// A constant: an integer in 64-bit two's complement, or a float in its written precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Immediate {
    Int(i64),
    /// A single-precision literal: `0f3F800000`.
    F32(u32),
    /// A double-precision literal (`0d3FF0000000000000`) or a decimal literal.
    F64(u64),
}
