//! The three kernels.

/// Where a kernel has its coefficients from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// From constant memory: `stencil_constant`
    Constant,
    /// From global memory through `__ldg`: `stencil_ldg`
    Ldg,
    /// From global memory through a `const __restrict__` pointer: `stencil_restrict`
    Restrict,
}

impl Variant {
    /// All of them, the one that others are compared with first.
    pub const ALL: [Variant; 3] = [Variant::Constant, Variant::Ldg, Variant::Restrict];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Constant => "constant",
            Variant::Ldg => "__ldg",
            Variant::Restrict => "const __restrict__",
        }
    }

    /// Its kernel in `kernels/stencil-readonly.cu`.
    pub fn kernel(self) -> &'static str {
        match self {
            Variant::Constant => "stencil_constant",
            Variant::Ldg => "stencil_ldg",
            Variant::Restrict => "stencil_restrict",
        }
    }
}
