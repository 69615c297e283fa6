//! The page guard on systems without memory protection: it detects nothing.

use super::HostAccess;

/// An access to a protected page.
pub struct PageAccess {
    pub address: u64,
    pub is_write: bool,
}

/// Does nothing.
pub fn guard<'a>(_: impl Iterator<Item = &'a HostAccess>) {}

/// Does nothing.
pub fn unprotect() {}

/// Returns an empty list.
pub fn take_page_accesses() -> Vec<PageAccess> {
    Vec::new()
}
