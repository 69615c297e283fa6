//! The entries of the function tables.

/// An exported C function. Its entry in a table keeps the linker from dropping it.
pub struct Entry {
    name: &'static str,
    function: *const (),
}

// SAFETY: `function` is the address of a function, which never changes and is not read through.
unsafe impl Sync for Entry {}

impl Entry {
    pub const fn new(name: &'static str, function: *const ()) -> Self {
        Self { name, function }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub fn is_linked(&self) -> bool {
        !self.function.is_null()
    }
}
