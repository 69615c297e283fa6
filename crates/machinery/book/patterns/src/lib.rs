//! Memory access patterns on the simulator: a real kernel runs, and the simulator records every access
//! and counts requests, sectors, wavefronts and bank conflicts.
//!
//! ```text
//! pattern → trace (a launch on the simulator) → outcome (addresses, counters) → draw → page, figures
//! ```
//!
//! The book's interactive page calls [`page`], compiled to WebAssembly. [`figures`] draws the figures of
//! the book's other pages, mostly from launches of the chapters' kernels.

pub mod draw;
#[cfg(not(target_family = "wasm"))]
pub mod figures;
pub mod language;
pub mod outcome;
pub mod page;
pub mod pattern;
pub mod trace;
#[cfg(target_family = "wasm")]
mod wasm {
    //! The functions that the page in the browser calls through WebAssembly.
    //!
    //! The page allocates a buffer for its query with [`input`], writes the query there and calls [`ask`],
    //! which returns the length of the reply. [`output`] returns the address of the reply.

    use std::cell::RefCell;

    use crate::page;

    thread_local! {
        static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        static OUTPUT: RefCell<String> = const { RefCell::new(String::new()) };
    }

    /// Allocates the buffer for a query of `bytes` bytes, and returns its address.
    // SAFETY: no other symbol of the WebAssembly module is named `input`.
    #[unsafe(no_mangle)]
    pub extern "C" fn input(bytes: usize) -> *mut u8 {
        INPUT.with_borrow_mut(|input| {
            input.clear();
            input.resize(bytes, 0);
            input.as_mut_ptr()
        })
    }

    /// Runs the query in the input buffer, and returns the length of the reply in bytes.
    // SAFETY: no other symbol of the WebAssembly module is named `ask`.
    #[unsafe(no_mangle)]
    pub extern "C" fn ask() -> usize {
        let query = INPUT.with_borrow(|input| String::from_utf8_lossy(input).into_owned());
        let reply = page::json(&query);
        OUTPUT.with_borrow_mut(|output| {
            *output = reply;
            output.len()
        })
    }

    /// Returns the address of the last reply, which is UTF-8.
    // SAFETY: no other symbol of the WebAssembly module is named `output`.
    #[unsafe(no_mangle)]
    pub extern "C" fn output() -> *const u8 {
        OUTPUT.with_borrow(|output| output.as_ptr())
    }
}
