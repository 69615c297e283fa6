//! Tests of launches that run, fault, or are rejected.

use std::time::Duration;

use super::*;
use crate::device::DeviceSpec;
use crate::driver::tests::{PTX, driver};
use crate::driver::{Memcpy, MemcpyAddress};
use crate::exec::TimeLimit;
use crate::model::Resource;

/// Loads the test module and returns the kernel `name`.
fn function(driver: &mut Driver, context: ContextId, name: &str) -> FunctionId {
    let module = driver.load_module(context, PTX).unwrap();
    driver.function(context, module, name).unwrap()
}

/// Returns the parameters of `store`: the address and the value.
fn parameters(address: u64, value: u32) -> Vec<u8> {
    [&address.to_le_bytes()[..], &value.to_le_bytes()].concat()
}

pub(super) fn config(function: FunctionId, parameters: &[u8]) -> LaunchConfig<'_> {
    LaunchConfig {
        function,
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
        parameters,
        cooperative: false,
        watch: None,
        profile: false,
    }
}

#[test]
fn a_launch_writes_memory_and_advances_time() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 128).unwrap();
    let parameters = parameters(address, 7);
    let start = driver.create_event(context, 0).unwrap();
    let end = driver.create_event(context, 0).unwrap();
    driver
        .record_event(context, start, StreamId::LEGACY)
        .unwrap();
    let launched = driver
        .launch(context, StreamId::LEGACY, &config(function, &parameters))
        .unwrap();
    driver.record_event(context, end, StreamId::LEGACY).unwrap();
    assert!(launched.fault.is_none());
    driver.synchronize_event(end).unwrap();
    assert!(driver.elapsed_time(start, end).unwrap() > 0.0);

    let mut output = [0u8; 128];
    let dst = MemcpyAddress::Host(output.as_mut_ptr());
    let copy = Memcpy::linear(dst, MemcpyAddress::Device(address), 128);
    // SAFETY: `output` has 128 bytes.
    unsafe { driver.memcpy(context, &copy) }.unwrap();
    // Thread i writes value + i.
    let words = output
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    assert!(words.eq(7..39));
}

#[test]
fn without_sampling_only_instructions_take_time() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 128).unwrap();
    let parameters = parameters(address, 7);
    let config = config(function, &parameters);
    let launch = |driver: &mut Driver| {
        let launched = driver.launch(context, StreamId::LEGACY, &config);
        launched.unwrap().record.unwrap()
    };
    let sampled = launch(&mut driver);
    driver.set_sampled(false);
    let unsampled = launch(&mut driver);
    assert_eq!(
        unsampled.counters.thread_instructions,
        sampled.counters.thread_instructions
    );
    let l1_time = |launched: &LaunchRecord| {
        let times = launched.time.resources.iter();
        let times = times.filter(|time| time.resource == Resource::L1Shared);
        times.map(|time| time.milliseconds).sum::<f64>()
    };
    assert!(l1_time(&sampled) > 0.0);
    assert_eq!(l1_time(&unsampled), 0.0);
}

#[test]
fn a_fault_is_sticky_until_the_context_is_destroyed() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 64).unwrap();
    let parameters = parameters(address, 7);
    let launch = config(function, &parameters);
    let launched = driver.launch(context, StreamId::LEGACY, &launch).unwrap();
    let message = launched.fault.unwrap().to_string();
    assert!(message.contains("store"), "{message}");
    assert!(message.contains("thread (16, 0, 0)"), "{message}");
    let sticky = CudaError::IllegalAddress;
    assert_eq!(driver.synchronize_context(context), Err(sticky));
    assert_eq!(driver.allocate(context, 4), Err(sticky));
    assert_eq!(driver.free(context, address), Err(sticky));
    assert_eq!(driver.query_stream(context, StreamId::LEGACY), Err(sticky));
    let again = driver.launch(context, StreamId::LEGACY, &launch);
    assert_eq!(again.err(), Some(sticky));
    driver.reset_primary(0).unwrap();
    let fresh = driver.retain_primary(0).unwrap();
    assert_eq!(driver.synchronize_context(fresh), Ok(()));
}

#[test]
fn invalid_launches_are_rejected_without_a_fault() {
    let (mut driver, context) = driver();
    let function = function(&mut driver, context, "store");
    let address = driver.allocate(context, 4096).unwrap();
    let parameters = parameters(address, 0);
    let valid = config(function, &parameters);
    let invalid = [
        LaunchConfig {
            grid: [0, 1, 1],
            ..valid
        },
        LaunchConfig {
            grid: [1, 65536, 1],
            ..valid
        },
        LaunchConfig {
            grid: [1 << 31, 1, 1],
            ..valid
        },
        LaunchConfig {
            block: [0, 1, 1],
            ..valid
        },
        LaunchConfig {
            block: [1025, 1, 1],
            ..valid
        },
        LaunchConfig {
            block: [32, 33, 1],
            ..valid
        },
        LaunchConfig {
            block: [1, 1, 65],
            ..valid
        },
        LaunchConfig {
            dynamic_shared: (48 << 10) + 1,
            ..valid
        },
        LaunchConfig {
            dynamic_shared: u32::MAX,
            ..valid
        },
        LaunchConfig {
            parameters: &parameters[..4],
            ..valid
        },
    ];
    for launch in invalid {
        let rejected = driver.launch(context, StreamId::LEGACY, &launch);
        assert_eq!(rejected.err(), Some(CudaError::InvalidValue), "{launch:?}");
    }
    let unknown = driver.launch(context, StreamId(5), &valid);
    assert_eq!(unknown.err(), Some(CudaError::InvalidHandle));
    let other = driver.create_context(0, 0).unwrap();
    let foreign = driver.launch(other, StreamId::LEGACY, &valid);
    assert_eq!(foreign.err(), Some(CudaError::InvalidHandle));
    assert!(driver.launch(context, StreamId::LEGACY, &valid).is_ok());
}

#[test]
fn launch_bounds_are_enforced() {
    let (mut driver, context) = driver();
    let bounded = function(&mut driver, context, "bounded");
    for (threads, fits) in [(64, true), (65, false)] {
        let launch = LaunchConfig {
            block: [threads, 1, 1],
            ..config(bounded, &[])
        };
        let launched = driver.launch(context, StreamId::LEGACY, &launch);
        assert_eq!(launched.is_ok(), fits, "{threads} threads");
    }
}

#[test]
fn shared_memory_beyond_48_kb_needs_an_attribute() {
    let (mut driver, context) = driver();
    let bounded = function(&mut driver, context, "bounded");
    let launch = LaunchConfig {
        dynamic_shared: 100 << 10,
        ..config(bounded, &[])
    };
    let rejected = driver.launch(context, StreamId::LEGACY, &launch);
    assert_eq!(rejected.err(), Some(CudaError::InvalidValue));
    driver
        .set_function_attribute(bounded, 8, 100 << 10)
        .unwrap();
    assert!(driver.launch(context, StreamId::LEGACY, &launch).is_ok());
}

#[test]
fn an_endless_kernel_times_out() {
    let mut driver = Driver::new(
        DeviceSpec::h200(),
        Some(TimeLimit::Launch(Duration::from_millis(50))),
    );
    let context = driver.retain_primary(0).unwrap();
    let endless = function(&mut driver, context, "endless");
    let launched = driver
        .launch(context, StreamId::LEGACY, &config(endless, &[]))
        .unwrap();
    assert!(matches!(
        launched.fault.unwrap().kind,
        FaultKind::Timeout { .. }
    ));
    assert_eq!(
        driver.synchronize_context(context),
        Err(CudaError::LaunchTimeout)
    );
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
fn launch_bounds_limit_registers() {
    let launch = |directives: &str, threads: u32| {
        let (mut driver, context) = driver();
        let module = driver
            .load_module(context, &kernel_with(directives))
            .unwrap();
        let function = driver.function(context, module, "crowded").unwrap();
        let address = driver.allocate(context, 640).unwrap();
        let parameters = address.to_le_bytes();
        let config = LaunchConfig {
            block: [threads, 1, 1],
            ..config(function, &parameters)
        };
        let launched = driver.launch(context, StreamId::LEGACY, &config);
        let registers = driver.function_attribute(function, 4).unwrap();
        let max = driver.function_attribute(function, 0).unwrap();
        (launched.map(|_| ()), registers, max)
    };
    let rejected = Err(CudaError::LaunchOutOfResources);
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
