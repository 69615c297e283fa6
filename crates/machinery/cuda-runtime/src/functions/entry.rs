//! What the tables of functions are made of.

/// A function that C calls. The list of them keeps them in the program.
pub struct Entry {
    name: &'static str,
    function: *const (),
}

// SAFETY: a function's address is the same for every thread.
unsafe impl Sync for Entry {}

impl Entry {
    pub const fn new(name: &'static str, function: *const ()) -> Self {
        Self { name, function }
    }

    pub const fn name(&self) -> &'static str {
        self.name
    }

    pub fn is_there(&self) -> bool {
        !self.function.is_null()
    }
}
