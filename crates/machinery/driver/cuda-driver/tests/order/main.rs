//! The order and time at which stream operations execute: never before a call waits for them or the program
//! is idle, and never in violation of streams and events.

#[macro_use]
#[path = "../support/mod.rs"]
mod support;

mod shuffled;
mod waiting;

use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cuda_driver::types::{CUfunction, CUstream};
use cust::context::legacy::Context;
use support::*;

/// A kernel that appends a digit to a number, `*at = *at * 10 + digit`, and one that stores to an unallocated
/// address.
const PTX: &CStr = c"
.version 6.4
.target sm_52
.address_size 64
.visible .entry append(.param .u64 at, .param .u64 digit)
{
    .reg .u64 %rd<4>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [digit];
    ld.global.u64 %rd3, [%rd1];
    mad.lo.u64 %rd3, %rd3, 10, %rd2;
    st.global.u64 [%rd1], %rd3;
    ret;
}
.visible .entry fault()
{
    .reg .u64 %rd<2>;
    mov.u64 %rd1, 0;
    st.global.u64 [%rd1], %rd1;
    ret;
}";

/// A context with the two kernels and a number in page-locked memory.
struct Simulator {
    append: CUfunction,
    fault: CUfunction,
    number: *mut u64,
    _context: Context,
    /// Tests run one after another, because a wait also executes the operations of other tests.
    _turn: MutexGuard<'static, ()>,
}

impl Simulator {
    fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let context = own_context();
        let module = module(PTX);
        Self {
            append: function(module, c"append"),
            fault: function(module, c"fault"),
            number: allocate_host(8),
            _context: context,
            _turn: turn,
        }
    }

    /// Returns the current number without waiting.
    fn now(&self) -> u64 {
        // SAFETY: the memory was allocated by the driver and lives as long as the context.
        unsafe { self.number.read_volatile() }
    }

    fn set(&self, value: u64) {
        // SAFETY: the callee passes its handles only to the driver, which looks them up and never
        // dereferences them.
        unsafe { self.number.write_volatile(value) }
    }

    /// Launches a kernel in a stream that appends a digit.
    fn append(&self, digit: u64, stream: CUstream) {
        ok(self.launch(self.append, &[self.number as u64, digit], stream));
    }

    /// Launches one thread.
    fn launch(&self, kernel: CUfunction, arguments: &[u64], stream: CUstream) -> c_int {
        launch(kernel, [1, 1], stream, arguments)
    }
}
