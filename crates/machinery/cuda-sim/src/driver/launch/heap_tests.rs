//! `malloc` and `free` in kernels.

use super::tests::config;
use super::*;
use crate::driver::tests::driver;
use crate::driver::{Memcpy, MemcpyAddress};

/// `take` puts what `malloc` gives a thread for so many bytes where it is told; `give` frees what lies there.
const HEAP: &str = "
.version 6.4
.target sm_52
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry take(.param .u64 to, .param .u64 bytes)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [bytes];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd1, %rd1, %rd3;
    { .param .b64 p; .param .b64 r; st.param.b64 [p], %rd2; call.uni (r), malloc, (p); ld.param.b64 %rd4, [r]; }
    st.global.u64 [%rd1], %rd4;
    ret;
}
.visible .entry give(.param .u64 from)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [from];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8;
    add.s64 %rd1, %rd1, %rd3;
    ld.global.u64 %rd4, [%rd1];
    { .param .b64 p; st.param.b64 [p], %rd4; call.uni free, (p); }
    ret;
}
";

struct WithHeap {
    driver: Driver,
    context: ContextId,
    take: FunctionId,
    give: FunctionId,
    /// Where the addresses lie that 32 threads were given.
    table: u64,
}

impl WithHeap {
    fn new() -> WithHeap {
        let (mut driver, context) = driver();
        let module = driver.load_module(context, HEAP).unwrap();
        WithHeap {
            take: driver.function(context, module, "take").unwrap(),
            give: driver.function(context, module, "give").unwrap(),
            table: driver.allocate(context, 256).unwrap(),
            driver,
            context,
        }
    }

    fn take(&mut self, bytes: u64) -> Vec<u64> {
        let parameters = [self.table.to_le_bytes(), bytes.to_le_bytes()].concat();
        let launch = config(self.take, &parameters);
        let launched = self.driver.launch(self.context, StreamId::LEGACY, &launch);
        assert!(launched.unwrap().fault.is_none());
        self.addresses()
    }

    fn give(&mut self) -> Option<Fault> {
        let parameters = self.table.to_le_bytes();
        let launch = config(self.give, &parameters);
        let launched = self.driver.launch(self.context, StreamId::LEGACY, &launch);
        launched.unwrap().fault
    }

    fn addresses(&mut self) -> Vec<u64> {
        let mut found = [0u64; 32];
        let dst = MemcpyAddress::Host(found.as_mut_ptr().cast());
        let copy = Memcpy::linear(dst, MemcpyAddress::Device(self.table), 256);
        // SAFETY: `found` holds 256 bytes.
        unsafe { self.driver.memcpy(self.context, &copy) }.unwrap();
        found.to_vec()
    }
}

#[test]
fn malloc_takes_of_its_limit_and_other_kernels_free() {
    let mut it = WithHeap::new();
    it.driver
        .set_limit(it.context, Limit::MallocHeapSize, 32 << 10)
        .unwrap();
    let given = it.take(1000);
    let mut sorted = given.clone();
    sorted.sort_unstable();
    assert!(sorted[0] != 0 && given.iter().all(|address| address % 16 == 0));
    assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 1000));
    // There is no room for more, and a limit that is in use stays.
    assert_eq!(it.take(1000), [0; 32]);
    assert!(it.give().is_none(), "free of 0 is nothing");
    let set = it
        .driver
        .set_limit(it.context, Limit::MallocHeapSize, 1 << 20);
    assert_eq!(set, Err(CudaError::InvalidValue));
    // What is freed is used again.
    let whole = it.take(16);
    assert!(it.give().is_none());
    let mut again = it.take(16);
    again.sort_unstable();
    let mut whole = whole;
    whole.sort_unstable();
    assert_eq!(again, whole);
}

#[test]
fn free_of_what_is_not_taken_stops_the_kernel() {
    let mut it = WithHeap::new();
    let first = it.take(8)[0];
    assert!(it.give().is_none());
    let fault = it.give().unwrap();
    assert_eq!(fault.kind, FaultKind::InvalidFree { address: first });
    assert!(fault.to_string().contains("in kernel give"), "{fault}");
    let after = it.driver.synchronize_context(it.context);
    assert_eq!(after, Err(CudaError::LaunchFailed));
}

#[test]
fn the_memory_of_malloc_goes_with_its_context() {
    let mut it = WithHeap::new();
    let before = it.driver.global.free_bytes();
    it.take(8);
    assert_eq!(before - it.driver.global.free_bytes(), 8 << 20);
    it.driver.checks.leak = true;
    let context = it.context;
    it.driver.free(context, it.table).unwrap();
    it.driver.reset_primary(0).unwrap();
    assert_eq!(it.driver.global.free_bytes(), it.driver.global.capacity());
    assert!(it.driver.take_leaks().is_empty());
}
