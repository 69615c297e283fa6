//! Where pages cannot be guarded: nothing is seen to be touched.

use super::Use;

/// What was touched.
pub struct Touch {
    pub address: u64,
    pub writes: bool,
}

/// Guards nothing.
pub fn guard<'a>(_: impl Iterator<Item = &'a Use>) {}

/// Nothing is guarded.
pub fn open() {}

/// Nothing was seen.
pub fn take() -> Vec<Touch> {
    Vec::new()
}
