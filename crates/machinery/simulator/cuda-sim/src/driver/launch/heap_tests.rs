//! Tests of `malloc` and `free` in kernels.

use super::tests::config;
use super::*;
use crate::driver::tests::driver;
use crate::driver::{Memcpy, MemcpyAddress};

/// The kernels `take`, which stores the result of `malloc` for each thread in a table, and `give`, which
/// frees the pointers in the table.
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

struct HeapTest {
    driver: Driver,
    context: ContextId,
    take: FunctionId,
    give: FunctionId,
    /// The address of the table of 32 pointers.
    table: u64,
}

impl HeapTest {
    fn new() -> HeapTest {
        let (mut driver, context) = driver();
        let module = driver.load_module(context, HEAP).unwrap();
        HeapTest {
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
        let mut output = [0u64; 32];
        let dst = MemcpyAddress::Host(output.as_mut_ptr().cast());
        let copy = Memcpy::linear(dst, MemcpyAddress::Device(self.table), 256);
        // SAFETY: `output` has 256 bytes.
        unsafe { self.driver.memcpy(self.context, &copy) }.unwrap();
        output.to_vec()
    }
}

#[test]
fn malloc_respects_the_heap_limit_and_reuses_freed_memory() {
    let mut test = HeapTest::new();
    test.driver
        .set_limit(test.context, Limit::MallocHeapSize, 32 << 10)
        .unwrap();
    let addresses = test.take(1000);
    let mut sorted = addresses.clone();
    sorted.sort_unstable();
    assert!(sorted[0] != 0 && addresses.iter().all(|address| address % 16 == 0));
    assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 1000));
    // The heap is full, and the limit of a heap in use cannot change.
    assert_eq!(test.take(1000), [0; 32]);
    assert!(test.give().is_none(), "free of 0 is nothing");
    let set = test
        .driver
        .set_limit(test.context, Limit::MallocHeapSize, 1 << 20);
    assert_eq!(set, Err(CudaError::InvalidValue));
    // Freed memory is reused.
    let first = test.take(16);
    assert!(test.give().is_none());
    let mut second = test.take(16);
    second.sort_unstable();
    let mut first = first;
    first.sort_unstable();
    assert_eq!(second, first);
}

#[test]
fn a_double_free_is_a_fault() {
    let mut test = HeapTest::new();
    let first = test.take(8)[0];
    assert!(test.give().is_none());
    let fault = test.give().unwrap();
    assert_eq!(fault.kind, FaultKind::InvalidFree { address: first });
    assert!(fault.to_string().contains("in kernel give"), "{fault}");
    let after = test.driver.synchronize_context(test.context);
    assert_eq!(after, Err(CudaError::LaunchFailed));
}

#[test]
fn destroying_the_context_frees_the_heap() {
    let mut test = HeapTest::new();
    let free_before = test.driver.global.free_bytes();
    test.take(8);
    assert_eq!(free_before - test.driver.global.free_bytes(), 8 << 20);
    test.driver.checks.leak = true;
    let context = test.context;
    test.driver.free(context, test.table).unwrap();
    test.driver.reset_primary(0).unwrap();
    assert_eq!(
        test.driver.global.free_bytes(),
        test.driver.global.capacity()
    );
    assert!(test.driver.take_leaks().is_empty());
}
