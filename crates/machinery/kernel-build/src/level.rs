//! How much a compiler makes of a text.

/// How far clang may change a kernel while its results stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As far as it can: this is what kernels are measured as.
    Optimised,
    /// Not at all: every load and store that is written is there, and where it is written. Optimised,
    /// one that nobody uses is gone, and one before a condition may stand behind it.
    AsWritten,
}

impl Level {
    /// Options to add to the usual ones. A text cannot ask which level it is compiled at.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Level::Optimised => &[],
            Level::AsWritten => &["-O0", "-D__OPTIMIZE__=1", "-U__NO_INLINE__"],
        }
    }
}
