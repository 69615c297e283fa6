//! Tests of launches that run, fault, or are rejected, of `malloc` and `free` in kernels, and of cooperative
//! launches.

use std::time::Duration;

use super::*;
use crate::check::{FindingKind, Reason, Severity, reason};
use crate::device::DeviceSpec;
use crate::driver::Memcpy;
use crate::driver::MemcpyAddress::{Device, Host};
use crate::driver::tests::{PTX, driver};
use crate::exec::{Fault, FaultModel, TimeLimit};
use crate::launch::LaunchRecord;
use crate::model::Resource;
use CudaError::*;

/// Loads the test module and returns the kernel `name`.
fn function(driver: &mut Driver, context: ContextId, name: &str) -> FunctionId {
    let module = driver.load_module(context, PTX).unwrap();
    driver.function(context, module, name).unwrap()
}

/// Returns the parameters of `store`: the address and the value.
fn parameters(address: u64, value: u32) -> Vec<u8> {
    [&address.to_le_bytes()[..], &value.to_le_bytes()].concat()
}

/// Returns a launch of one block of one warp.
fn one_warp(parameters: &[u8]) -> LaunchSpec {
    LaunchSpec::new([1; 3], [32, 1, 1], parameters)
}

/// Checks a launch and runs it in the legacy default stream.
fn launch_in(
    driver: &mut Driver,
    context: ContextId,
    function: FunctionId,
    spec: &LaunchSpec,
) -> Result<LaunchReport, CudaError> {
    let checked = driver.check_launch(context, function, spec.clone())?;
    driver.launch(context, StreamId::LEGACY, &checked)
}

#[test]
fn a_launch_writes_memory_and_advances_time() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 128).unwrap();
    let parameters = parameters(address, 7);
    let start = driver.create_event(context, 0).unwrap();
    let end = driver.create_event(context, 0).unwrap();
    let stream = StreamId::LEGACY;
    driver.record_event(context, start, stream).unwrap();
    let launched = launch_in(&mut driver, context, function, &one_warp(&parameters)).unwrap();
    driver.record_event(context, end, stream).unwrap();
    assert!(launched.result.is_ok());
    driver.synchronize_event(end).unwrap();
    assert!(driver.elapsed_time(start, end).unwrap() > 0.0);

    let mut output = [0u8; 128];
    let dst = Host(output.as_mut_ptr());
    let copy = Memcpy::linear(dst, Device(address), 128);
    // SAFETY: `output` has 128 bytes.
    unsafe { driver.memcpy(context, &copy) }.unwrap();
    // Thread i writes value + i.
    let words = output.chunks(4);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    assert!(words.eq(7..39));
}

#[test]
fn without_sampling_only_instructions_take_time() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 128).unwrap();
    let parameters = parameters(address, 7);
    let spec = one_warp(&parameters);
    let launch = |driver: &mut Driver| {
        let launched = launch_in(driver, context, function, &spec);
        launched.unwrap().result.unwrap()
    };
    let sampled = launch(&mut driver);
    driver.options.sampled = false;
    let unsampled = launch(&mut driver);
    let instructions = |launched: &LaunchRecord| launched.counters.thread_instructions;
    assert_eq!(instructions(&unsampled), instructions(&sampled));
    let l1_time = |launched: &LaunchRecord| {
        let times = launched.time.resources.iter();
        let times = times.filter(|time| time.resource == Resource::L1Shared);
        times.map(|time| time.milliseconds).sum::<f64>()
    };
    assert!(l1_time(&sampled) > 0.0);
    assert_eq!(l1_time(&unsampled), 0.0);
}

#[test]
fn a_fault_is_sticky_in_all_contexts_of_the_device() {
    let (mut driver, context) = driver();
    driver.options.fault_model = FaultModel::Hardware;
    let other = driver.create_context(0, 0).unwrap();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 512).unwrap();
    let parameters = parameters(address + 448, 7);
    let spec = one_warp(&parameters);
    let checked = driver.check_launch(context, function, spec.clone());
    let checked = checked.unwrap();
    let launched = driver.launch(context, StreamId::LEGACY, &checked).unwrap();
    let message = launched.result.unwrap_err().to_string();
    assert!(message.contains("store"), "{message}");
    assert!(message.contains("thread (16, 0, 0)"), "{message}");
    let sticky = IllegalAddress;
    assert_eq!(driver.synchronize_context(context), Err(sticky));
    assert_eq!(driver.allocate(context, 4), Err(sticky));
    assert_eq!(driver.free(context, address), Err(sticky));
    assert_eq!(driver.query_stream(context, StreamId::LEGACY), Err(sticky));
    let again = driver.check_launch(context, function, spec);
    assert_eq!(again.err(), Some(sticky));
    let again = driver.launch(context, StreamId::LEGACY, &checked);
    assert_eq!(again.err(), Some(sticky));
    assert_eq!(driver.synchronize_context(other), Err(sticky));
    assert_eq!(driver.create_context(0, 0), Err(sticky));
    driver.destroy_context(other).unwrap();
    driver.retain_primary(0).unwrap();
    driver.reset_primary(0).unwrap();
    assert_eq!(driver.retain_primary(0), Err(sticky));
}

#[test]
fn a_fault_that_is_not_final_ends_with_its_context() {
    let (mut driver, context) = driver();
    driver.fail(context, IllegalAddress);
    assert_eq!(driver.synchronize_context(context), Err(IllegalAddress));
    driver.reset_primary(0).unwrap();
    let fresh = driver.retain_primary(0).unwrap();
    assert_eq!(driver.synchronize_context(fresh), Ok(()));
}

/// Only the last granule of an allocation has memory past its end. Several warps run as a gang.
#[test]
fn a_gpu_does_not_detect_accesses_to_the_rest_of_a_granule() {
    for threads in [1, 2, 33, 127, 256] {
        let (mut driver, context) = driver();
        let function = function(&mut driver, context, "store");
        let launch = |driver: &mut Driver, address: u64| {
            let block = [threads, 1, 1];
            let spec = LaunchSpec::new([1; 3], block, &parameters(address, 7));
            launch_in(driver, context, function, &spec).unwrap()
        };
        let bytes = u64::from(threads) * 4;
        driver.options.fault_model = FaultModel::Hardware;
        let address = driver.allocate(context, bytes - 2).unwrap();
        let report = launch(&mut driver, address);
        assert!(report.result.is_ok(), "{threads} threads: {report:?}");
        let [finding] = &report.findings[..] else {
            panic!("{threads} threads: {report:?}");
        };
        assert_eq!(
            (
                finding.kind,
                finding.severity,
                finding.count,
                finding.thread
            ),
            (
                FindingKind::OutOfBounds,
                Severity::Warning,
                1,
                [threads - 1, 0, 0]
            )
        );
        driver.options.checks.memory = true;
        let report = launch(&mut driver, address);
        assert!(report.result.is_ok(), "{threads} threads: {report:?}");
        assert_eq!(report.findings[0].severity, Severity::Error);
        // The first address that is not in the granule is that of the last thread.
        let granules = bytes.next_multiple_of(512);
        let report = launch(&mut driver, address + granules + 4 - bytes);
        let fault = report.result.unwrap_err();
        let thread = fault.location.unwrap().thread;
        assert_eq!(thread, [threads - 1, 0, 0], "{threads} threads");
    }
}

#[test]
fn accesses_past_the_end_are_faults_by_default() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 126).unwrap();
    let spec = one_warp(&parameters(address, 7));
    let report = launch_in(&mut driver, context, function, &spec).unwrap();
    let thread = report.result.unwrap_err().location.unwrap().thread;
    assert_eq!(thread, [31, 0, 0]);
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[test]
fn a_fault_leaves_other_devices_alone() {
    let mut driver = Driver::with_devices(2, DeviceSpec::h200(), None);
    driver.options.fault_model = FaultModel::Hardware;
    let [context, other] = [0, 1].map(|device| driver.retain_primary(device).unwrap());
    driver.fail(context, IllegalAddress);
    assert_eq!(driver.synchronize_context(context), Err(IllegalAddress));
    assert_eq!(driver.synchronize_context(other), Ok(()));
    driver.create_context(1, 0).unwrap();
}

#[test]
fn invalid_launches_are_rejected_without_a_fault() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 4096).unwrap();
    let parameters = parameters(address, 0);
    let valid = || one_warp(&parameters);
    let mut invalid = vec![valid(); 10];
    invalid[0].grid = [0, 1, 1];
    invalid[1].grid = [1, 65536, 1];
    invalid[2].grid = [1 << 31, 1, 1];
    invalid[3].block = [0, 1, 1];
    invalid[4].block = [1025, 1, 1];
    invalid[5].block = [32, 33, 1];
    invalid[6].block = [1, 1, 65];
    invalid[7].dynamic_shared = (48 << 10) + 1;
    invalid[8].dynamic_shared = u32::MAX;
    invalid[9].parameters = parameters[..4].into();
    for spec in invalid {
        let rejected = driver.check_launch(context, function, spec.clone());
        assert_eq!(rejected.err(), Some(InvalidValue), "{spec:?}");
    }
    let checked = driver.check_launch(context, function, valid()).unwrap();
    let unknown = driver.launch(context, StreamId(5), &checked);
    assert_eq!(unknown.err(), Some(InvalidHandle));
    let other = driver.create_context(0, 0).unwrap();
    let foreign = driver.check_launch(other, function, valid());
    assert_eq!(foreign.err(), Some(InvalidHandle));
    assert!(driver.launch(context, StreamId::LEGACY, &checked).is_ok());
}

#[test]
fn launch_bounds_are_enforced() {
    let (mut driver, context) = driver();
    let bounded = function(&mut driver, context, "bounded");
    for (threads, fits) in [(64, true), (65, false)] {
        let spec = LaunchSpec::new([1; 3], [threads, 1, 1], &[]);
        let launched = launch_in(&mut driver, context, bounded, &spec);
        assert_eq!(launched.is_ok(), fits, "{threads} threads");
    }
}

#[test]
fn shared_memory_beyond_48_kb_needs_an_attribute() {
    let (mut driver, context) = driver();
    let bounded = function(&mut driver, context, "bounded");
    let spec = LaunchSpec {
        dynamic_shared: 100 << 10,
        ..one_warp(&[])
    };
    let rejected = launch_in(&mut driver, context, bounded, &spec);
    assert_eq!(rejected.err(), Some(InvalidValue));
    let set = driver.set_function_attribute(bounded, 8, 100 << 10);
    assert_eq!(set, Ok(()));
    assert!(launch_in(&mut driver, context, bounded, &spec).is_ok());
}

#[test]
fn an_endless_kernel_times_out() {
    let limit = TimeLimit::Launch(Duration::from_millis(50));
    let mut driver = Driver::new(DeviceSpec::h200(), Some(limit));
    let context = driver.retain_primary(0).unwrap();
    let endless = function(&mut driver, context, "endless");
    let launched = launch_in(&mut driver, context, endless, &one_warp(&[])).unwrap();
    let fault = launched.result.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Timeout { .. }), "{fault}");
    assert_eq!(driver.synchronize_context(context), Err(LaunchTimeout));
}

/// Returns the PTX of a kernel with 160 simultaneously live values and the given directives.
fn kernel_with(directives: &str) -> String {
    let repeat = |text: fn(usize) -> String| (0..160).map(text).collect::<String>();
    format!(
        ".version 6.4
        .target sm_52
        .address_size 64
        .visible .entry crowded(.param .u64 address) {directives}
        {{
            .reg .b32 %r<160>;
            .reg .b64 %rd<2>;
            ld.param.u64 %rd1, [address];
            {}{}
            ret;
        }}",
        repeat(|n| format!("ld.global.u32 %r{n}, [%rd1+{}];", 4 * n)),
        repeat(|n| format!("st.global.u32 [%rd1+{}], %r{n};", 4 * (159 - n))),
    )
}

#[test]
fn too_many_registers_are_the_reason_of_the_error() {
    let (mut driver, context) = driver();
    let module = driver.load_module(context, &kernel_with("")).unwrap();
    let function = driver.function(context, module, "crowded").unwrap();
    let spec = LaunchSpec::new([1; 3], [1024, 1, 1], &[0; 8]);
    assert!(driver.check_launch(context, function, spec).is_err());
    assert!(matches!(
        reason::take(),
        Some(Reason::Registers(1024, _, 65536, 736))
    ));
}

#[test]
fn launch_bounds_limit_registers() {
    let launch = |directives: &str, threads: u32| {
        let (mut driver, context) = driver();
        let module = driver.load_module(context, &kernel_with(directives));
        let function = driver
            .function(context, module.unwrap(), "crowded")
            .unwrap();
        let address = driver.allocate(context, 640).unwrap();
        let parameters = address.to_le_bytes();
        let spec = LaunchSpec::new([1; 3], [threads, 1, 1], &parameters);
        let launched = launch_in(&mut driver, context, function, &spec);
        let registers = driver.function_attribute(function, 4).unwrap();
        let max = driver.function_attribute(function, 0).unwrap();
        (launched.map(|_| ()), registers, max)
    };
    let rejected = Err(LaunchOutOfResources);
    let (unbounded, free, max) = launch("", 1024);
    assert!(free > 160, "{free}");
    // An assembler needs about half of them: some 80 for each of 736 threads.
    assert_eq!((unbounded, max), (rejected, 736));
    assert_eq!(launch("", 736), (Ok(()), free, 736));
    // 65536 registers are 64 for each of 1024 threads, and 32 for each of 2048.
    assert_eq!(launch(".maxntid 1024, 1, 1", 1024), (Ok(()), 64, 1024));
    assert_eq!(launch(".reqntid 32, 32, 1", 1024).1, 64);
    let two_blocks = ".maxntid 1024, 1, 1 .minnctapersm 2";
    assert_eq!(launch(two_blocks, 1024), (Ok(()), 32, 1024));
    // 65536 registers for 20 warps are 3276 per warp, of which 3072 are allocated.
    assert_eq!(launch(".maxntid 640, 1, 1", 640), (Ok(()), 96, 640));
    assert_eq!(launch(".maxnreg 40", 1024), (Ok(()), 40, 1024));
    // Bounds above the kernel's needs have no effect.
    assert_eq!(launch(".maxntid 128, 1, 1", 128), (Ok(()), free, 128));
}

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
.visible .entry idle() {
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
        assert_eq!(self.launch(self.take, &parameters), None);
        self.addresses()
    }

    fn give(&mut self) -> Option<Fault> {
        self.launch(self.give, &self.table.to_le_bytes())
    }

    fn launch(&mut self, function: FunctionId, parameters: &[u8]) -> Option<Fault> {
        let spec = one_warp(parameters);
        let launched = launch_in(&mut self.driver, self.context, function, &spec);
        launched.unwrap().result.err()
    }

    fn addresses(&mut self) -> Vec<u64> {
        let mut output = [0u64; 32];
        let dst = Host(output.as_mut_ptr().cast());
        let copy = Memcpy::linear(dst, Device(self.table), 256);
        // SAFETY: `output` has 256 bytes.
        unsafe { self.driver.memcpy(self.context, &copy) }.unwrap();
        output.to_vec()
    }
}

#[test]
fn malloc_respects_the_heap_limit_and_reuses_freed_memory() {
    let mut test = HeapTest::new();
    let (context, limit) = (test.context, Limit::MallocHeapSize);
    // The smallest heap, of 4 MB.
    test.driver.set_limit(context, limit, 0).unwrap();
    let addresses = test.take(130_000);
    let mut sorted = addresses.clone();
    sorted.sort_unstable();
    assert!(sorted[0] != 0 && addresses.iter().all(|address| address % 16 == 0));
    assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 130_000));
    // The heap is full, and the limit of a heap in use cannot change.
    assert_eq!(test.take(130_000), [0; 32]);
    assert!(test.give().is_none(), "free of 0 is nothing");
    let set = test.driver.set_limit(context, limit, 1 << 20);
    assert_eq!(set, Err(InvalidValue));
    // Freed memory is reused.
    let mut first = test.take(16);
    assert!(test.give().is_none());
    let mut second = test.take(16);
    first.sort_unstable();
    second.sort_unstable();
    assert_eq!(second, first);
}

#[test]
fn heap_limit_can_change_until_a_kernel_uses_the_heap() {
    let mut test = HeapTest::new();
    let (context, limit) = (test.context, Limit::MallocHeapSize);
    let module = test.driver.load_module(context, HEAP).unwrap();
    let idle = test.driver.function(context, module, "idle").unwrap();
    assert_eq!(test.launch(idle, &[]), None);
    test.driver.set_limit(context, limit, 16 << 20).unwrap();
    assert_eq!(test.driver.limit(context, limit), Ok(16 << 20));
    test.take(8);
    let set = test.driver.set_limit(context, limit, 32 << 20);
    assert_eq!(set, Err(InvalidValue));
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
    assert_eq!(after, Err(LaunchFailed));
}

#[test]
fn destroying_the_context_frees_the_heap() {
    let mut test = HeapTest::new();
    let free_before = test.driver.global.free_bytes();
    test.take(8);
    assert_eq!(free_before - test.driver.global.free_bytes(), 8 << 20);
    test.driver.options.checks.leak = true;
    let context = test.context;
    test.driver.free(context, test.table).unwrap();
    test.driver.reset_primary(0).unwrap();
    let global = &test.driver.global;
    assert_eq!(global.free_bytes(), global.capacity());
    assert!(test.driver.take_leaks().is_empty());
}

/// The kernel `sums`: each block writes its number, all synchronize, and each block writes the sum of all
/// numbers; this is repeated with the sums. `grid_sync` synchronizes as CUDA's `cooperative_groups` do: with
/// a word of the driver's whose highest bit flips when the last block arrives.
const SUMS: &str = "
    .version 7.0
    .target sm_80
    .address_size 64
    .func grid_sync()
    {
        .reg .pred %p<3>;
        .reg .b32 %r<12>;
        .reg .b64 %d<2>;
        mov.u32 %r1, %envreg1;
        mov.u32 %r2, %envreg2;
        mov.b64 %d1, {%r2, %r1};
        setp.eq.s64 %p1, %d1, 0;
        @%p1 trap;
        barrier.sync 0;
        mov.u32 %r3, %tid.x;
        setp.ne.u32 %p1, %r3, 0;
        @%p1 bra TOGETHER;
        mov.u32 %r4, %nctaid.x;
        mov.u32 %r5, %ctaid.x;
        sub.u32 %r6, 0x80000001, %r4;
        setp.eq.u32 %p2, %r5, 0;
        selp.u32 %r6, %r6, 1, %p2;
        fence.sc.gpu;
        atom.add.u32 %r7, [%d1+4], %r6;
    WAIT:
        ld.volatile.u32 %r8, [%d1+4];
        xor.b32 %r8, %r8, %r7;
        setp.ge.s32 %p2, %r8, 0;
        @%p2 bra WAIT;
        fence.sc.gpu;
    TOGETHER:
        barrier.sync 0;
        ret;
    }
    .visible .entry sums(.param .u64 out)
    .maxntid 64
    {
        .reg .pred %p<3>;
        .reg .b32 %r<12>;
        .reg .b64 %d<4>;
        ld.param.u64 %d1, [out];
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %nctaid.x;
        add.u32 %r3, %r1, 1;
        mov.u32 %r4, 0;
    ROUND:
        mul.wide.u32 %d2, %r1, 4;
        add.s64 %d2, %d1, %d2;
        st.global.u32 [%d2], %r3;
        call grid_sync;
        mov.u32 %r3, 0;
        mov.u32 %r5, 0;
    ADD:
        mul.wide.u32 %d2, %r5, 4;
        add.s64 %d2, %d1, %d2;
        ld.global.u32 %r6, [%d2];
        add.u32 %r3, %r3, %r6;
        add.u32 %r5, %r5, 1;
        setp.lt.u32 %p1, %r5, %r2;
        @%p1 bra ADD;
        call grid_sync;
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p1, %r4, 3;
        @%p1 bra ROUND;
        mul.wide.u32 %d2, %r1, 4;
        add.s64 %d2, %d1, %d2;
        st.global.u32 [%d2], %r3;
        ret;
    }
";

fn load_sums() -> (Driver, ContextId, FunctionId) {
    let limit = TimeLimit::Launch(Duration::from_secs(60));
    let mut driver = Driver::new(DeviceSpec::h200(), Some(limit));
    let context = driver.retain_primary(0).unwrap();
    let module = driver.load_module(context, SUMS).unwrap();
    let sums = driver.function(context, module, "sums").unwrap();
    (driver, context, sums)
}

/// Returns a cooperative launch.
fn cooperative(blocks: u32, threads: u32, parameters: &[u8]) -> LaunchSpec {
    LaunchSpec {
        cooperative: true,
        ..LaunchSpec::new([blocks, 1, 1], [threads, 1, 1], parameters)
    }
}

#[test]
fn all_blocks_synchronize() {
    let (mut driver, context, sums) = load_sums();
    for (blocks, threads) in [(1, 32), (2, 33), (132, 64), (300, 1)] {
        let bytes = 4 * u64::from(blocks);
        let out = driver.allocate(context, bytes).unwrap();
        let free = driver.memory_info(context).unwrap().0;
        let parameters = out.to_le_bytes();
        let spec = cooperative(blocks, threads, &parameters);
        let launched = launch_in(&mut driver, context, sums, &spec).unwrap();
        assert_eq!(launched.result.err(), None);
        // The barrier's memory is freed after the launch.
        assert_eq!(driver.memory_info(context).unwrap().0, free);
        let mut actual = vec![0u32; blocks as usize];
        let to = Host(actual.as_mut_ptr().cast());
        let copy = Memcpy::linear(to, Device(out), bytes);
        // SAFETY: `actual` has `blocks` elements of 4 bytes, which is `bytes`.
        unsafe { driver.memcpy(context, &copy) }.unwrap();
        let sum = (1..=blocks).fold(0, u32::wrapping_add);
        let expected = sum.wrapping_mul(blocks).wrapping_mul(blocks);
        let expected = vec![expected; blocks as usize];
        assert_eq!(actual, expected, "{blocks} of {threads}");
    }
}

/// Launches as many blocks as the occupancy calculator reports, and one more.
#[test]
fn cooperative_launches_beyond_residency_are_rejected() {
    let (mut driver, context, sums) = load_sums();
    let calculator = driver.occupancy_calculator(sums).unwrap();
    let per_sm = calculator.max_active_blocks(64, 0).unwrap();
    let max = per_sm * driver.device().multiprocessors;
    let out = driver.allocate(context, 4 * u64::from(max) + 4).unwrap();
    let parameters = out.to_le_bytes();
    let too_large = cooperative(max + 1, 64, &parameters);
    let rejected = launch_in(&mut driver, context, sums, &too_large);
    assert_eq!(rejected.err(), Some(CooperativeLaunchTooLarge));
    // With 48 KB of shared memory per block, four blocks fit on an SM.
    let shared = LaunchSpec {
        dynamic_shared: 48 << 10,
        ..cooperative(4 * 132 + 1, 64, &parameters)
    };
    let rejected = launch_in(&mut driver, context, sums, &shared);
    assert_eq!(rejected.err(), Some(CooperativeLaunchTooLarge));
    assert_eq!(driver.synchronize_context(context), Ok(()));
    let plain = LaunchSpec {
        cooperative: false,
        ..too_large
    };
    // Without the driver's barrier, the kernel's own check traps.
    let launched = launch_in(&mut driver, context, sums, &plain).unwrap();
    assert_eq!(launched.result.unwrap_err().kind, FaultKind::GridBarrier);
}

/// The kernels `child`, which stores its argument to the address in the other, and `parent`, which launches it by the
/// functions of the device runtime's first version.
const LAUNCHES: &str = "
.version 6.4
.target sm_52
.address_size 64
.extern .func (.param .b64 r) cudaGetParameterBuffer (.param .b64 align, .param .b64 size);
.extern .func (.param .b32 r) cudaLaunchDevice (.param .b64 f, .param .b64 buffer, .param .align 4 .b8 grid[12],
    .param .align 4 .b8 block[12], .param .b32 shared, .param .b64 stream);
.visible .entry child(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd1, %rd1, %rd2;
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry parent(.param .u64 to, .param .u64 status, .param .u32 threads)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [status];
    ld.param.u32 %r3, [threads];
    mov.u64 %rd5, child;
    { .param .b64 a; .param .b64 s; .param .b64 r; st.param.b64 [a], 64; st.param.b64 [s], 12;
      call.uni (r), cudaGetParameterBuffer, (a, s); ld.param.b64 %rd3, [r]; }
    st.global.u64 [%rd3], %rd1;
    st.global.u32 [%rd3+8], 7;
    { .param .b64 f; .param .b64 b; .param .align 4 .b8 g[12]; .param .align 4 .b8 t[12]; .param .b32 m; .param .b64 s;
      .param .b32 r; st.param.b64 [f], %rd5; st.param.b64 [b], %rd3; st.param.b32 [g], 1; st.param.b32 [g+4], 1;
      st.param.b32 [g+8], 1; st.param.b32 [t], %r3; st.param.b32 [t+4], 1; st.param.b32 [t+8], 1; st.param.b32 [m], 0;
      st.param.b64 [s], 0; call.uni (r), cudaLaunchDevice, (f, b, g, t, m, s); ld.param.b32 %r1, [r]; }
    st.global.u32 [%rd2], %r1;
    ret;
}
";

#[test]
fn a_kernel_launches_a_kernel() {
    let (mut driver, context) = driver();
    let module = driver.load_module(context, LAUNCHES).unwrap();
    let parent = driver.function(context, module, "parent").unwrap();
    let address = driver.allocate(context, 256).unwrap();
    let launch = |driver: &mut Driver, threads: u32| {
        let words = [address, address + 128, threads.into()];
        let parameters: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        let spec = LaunchSpec::new([1; 3], [1; 3], &parameters[..20]);
        launch_in(driver, context, parent, &spec).unwrap()
    };
    let report = launch(&mut driver, 32);
    let [child] = &report.descendants.records[..] else {
        panic!("{report:?}");
    };
    assert_eq!((&*child.kernel, child.block), ("child", [32, 1, 1]));
    assert_eq!(child.launched_by.as_deref(), Some("parent"));
    assert_eq!(report.result.unwrap().launched_by, None);
    assert_eq!(report.descendants.milliseconds, child.time.milliseconds);
    let output = read_words(&mut driver, context, address);
    assert!(output[..32].iter().copied().eq(7..39));
    assert_eq!(output[32], 0);
    // 9 is `cudaErrorInvalidConfiguration`.
    let report = launch(&mut driver, 2048);
    assert!(report.descendants.records.is_empty());
    assert_eq!(read_words(&mut driver, context, address)[32], 9);
}

/// An H200 holds 4224 of these blocks at once. Those of one wave compete for the 2048 launch slots.
#[test]
fn pending_launches_are_counted_by_wave() {
    let (mut driver, context) = driver();
    let module = driver.load_module(context, LAUNCHES).unwrap();
    let parent = driver.function(context, module, "parent").unwrap();
    let address = driver.allocate(context, 256).unwrap();
    let words = [address, address + 128, 1];
    let parameters: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    for (blocks, expected) in [(2048, 2048), (3000, 2048), (4224 + 100, 2148), (8448, 4096)] {
        let spec = LaunchSpec::new([blocks, 1, 1], [1; 3], &parameters[..20]);
        let report = launch_in(&mut driver, context, parent, &spec).unwrap();
        let launched = report.descendants.records.len();
        assert_eq!(launched, expected, "{blocks} blocks");
    }
}

/// Reads 64 words of device memory.
fn read_words(driver: &mut Driver, context: ContextId, address: u64) -> [u32; 64] {
    let mut output = [0_u32; 64];
    let copy = Memcpy::linear(Host(output.as_mut_ptr().cast()), Device(address), 256);
    // SAFETY: `output` has 256 bytes.
    unsafe { driver.memcpy(context, &copy) }.unwrap();
    output
}
