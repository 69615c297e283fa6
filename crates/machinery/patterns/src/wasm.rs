//! What the page in a browser calls: text goes in and text comes out of one buffer each.
//!
//! The page makes room for its question with [`input`], writes it there, and calls [`ask`]; the
//! answer is at [`output`], [`ask`]'s result says how long it is.

use std::cell::RefCell;

use crate::page;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a question of `bytes` bytes.
// SAFETY: no other function of the program has this name.
#[unsafe(no_mangle)]
pub extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(bytes, 0);
        input.as_mut_ptr()
    })
}

/// Answers the question; how many bytes the answer has.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let question = INPUT.with_borrow(|input| String::from_utf8_lossy(input).into_owned());
    let answer = page::json(&question);
    OUTPUT.with_borrow_mut(|output| {
        *output = answer;
        output.len()
    })
}

/// Where the last answer is, UTF-8.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}
