//! Tests of cooperative launches, whose blocks synchronize with each other.

use std::time::Duration;

use super::*;
use crate::device::DeviceSpec;
use crate::driver::{Memcpy, MemcpyAddress};
use crate::exec::TimeLimit;

/// The kernel `sums`: each block writes its number, all synchronize, and each block writes the sum of all
/// numbers; this is repeated with the sums. `grid_sync` synchronizes as CUDA's `cooperative_groups` do: with
/// a word of the driver's whose highest bit flips when the last block arrives.
const PTX: &str = "
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
    let module = driver.load_module(context, PTX).unwrap();
    let sums = driver.function(context, module, "sums").unwrap();
    (driver, context, sums)
}

fn config(function: FunctionId, blocks: u32, threads: u32, parameters: &[u8]) -> LaunchConfig<'_> {
    LaunchConfig {
        function,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        dynamic_shared: 0,
        parameters,
        cooperative: true,
        watch: None,
        profile: false,
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
        let config = config(sums, blocks, threads, &parameters);
        let launched = driver.launch(context, StreamId::LEGACY, &config).unwrap();
        assert_eq!(launched.fault, None);
        // The barrier's memory is freed after the launch.
        assert_eq!(driver.memory_info(context).unwrap().0, free);
        let mut actual = vec![0u32; blocks as usize];
        let to = MemcpyAddress::Host(actual.as_mut_ptr().cast());
        let copy = Memcpy::linear(to, MemcpyAddress::Device(out), bytes);
        // SAFETY: `actual` has `blocks` elements of 4 bytes, which is `bytes`.
        unsafe { driver.memcpy(context, &copy) }.unwrap();
        let sum = (1..=blocks).fold(0, u32::wrapping_add);
        let expected = sum.wrapping_mul(blocks).wrapping_mul(blocks);
        assert_eq!(
            actual,
            vec![expected; blocks as usize],
            "{blocks} of {threads}"
        );
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
    let too_large = config(sums, max + 1, 64, &parameters);
    let rejected = driver.launch(context, StreamId::LEGACY, &too_large);
    assert_eq!(rejected.err(), Some(CudaError::CooperativeLaunchTooLarge));
    // With 48 KB of shared memory per block, four blocks fit on an SM.
    let shared = LaunchConfig {
        dynamic_shared: 48 << 10,
        ..config(sums, 4 * 132 + 1, 64, &parameters)
    };
    let rejected = driver.launch(context, StreamId::LEGACY, &shared);
    assert_eq!(rejected.err(), Some(CudaError::CooperativeLaunchTooLarge));
    assert_eq!(driver.synchronize_context(context), Ok(()));
    let plain = LaunchConfig {
        cooperative: false,
        ..too_large
    };
    // Without the driver's barrier, the kernel's own check traps.
    let fault = driver.launch(context, StreamId::LEGACY, &plain).unwrap();
    assert_eq!(fault.fault.unwrap().kind, FaultKind::Trap);
}
