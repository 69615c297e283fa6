//! The optimization levels at which clang compiles a kernel.

/// The amount of optimization that clang applies to a kernel, without effect on its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptimizationLevel {
    /// All optimizations, with which kernels are measured.
    Optimized,
    /// No optimization: every load and store is emitted where it is written. Optimization may remove an unused
    /// access, or move one behind a condition that follows it.
    Unoptimized,
}

impl OptimizationLevel {
    /// Returns the options to add. The macros hide the level from the source.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            OptimizationLevel::Optimized => &[],
            OptimizationLevel::Unoptimized => &["-O0", "-D__OPTIMIZE__=1", "-U__NO_INLINE__"],
        }
    }
}
