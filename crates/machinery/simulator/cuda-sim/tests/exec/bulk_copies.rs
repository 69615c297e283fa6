//! Bulk asynchronous copies of consecutive bytes (`cp.async.bulk`, `cp.reduce.async.bulk`), and asynchronous stores to
//! the shared memory of a cluster (`st.async`, `red.async`).

use crate::harness::*;
use cuda_sim::check::{BulkCopyMisuse, Cause, Checks, FindingKind, Severity, TimeLimit};
use cuda_sim::exec::{FaultKind, FaultModel};
use cuda_sim::isa::AccessClass;
use std::time::Duration;

/// Returns a module for `sm_90` with one kernel, `k`. `%in` and `%out` are addresses and `%n` a number of bytes. Shared
/// memory has a barrier for one arrival, which is initialized, and a tile; `%p1` is true in the first thread.
fn module(body: &str) -> String {
    format!(
        ".version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 bytes) {{
    .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b32 %t, %n, %b; .reg .b64 %d<16>; .reg .b64 %in, %out;
    .shared .align 128 .b8 tile[8192]; .shared .align 8 .b64 bar;
    ld.param.u64 %in, [p]; ld.param.u64 %out, [q]; ld.param.u32 %n, [bytes];
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive; barrier.cluster.wait;
{body}
    ret;
}}
"
    )
}

/// Waits for phase 0 of the barrier.
const WAIT: &str = "
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;";

/// Loads `%n` bytes at `%in` into the tile.
const LOAD: &str = "
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], %n, [bar];";

/// Stores the tile's first `%n` bytes at `%out`.
const STORE: &str = "
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], %n;
    @%p1 cp.async.bulk.commit_group;
    @%p1 cp.async.bulk.wait_group 0;";

fn words_of(bytes: u32) -> Vec<u32> {
    (0..bytes / 4)
        .map(|word| word.wrapping_mul(0x9e37_79b9))
        .collect()
}

#[test]
fn copies_go_to_shared_memory_and_back() {
    let body = format!(
        "mul.wide.u32 %d1, %b, %n; add.u64 %in, %in, %d1; add.u64 %out, %out, %d1;
        {LOAD} {WAIT} {STORE}"
    );
    for bytes in [0, 16, 48, 112, 4096, 8192] {
        for blocks in [1, 3] {
            let mut machine = Machine::checking(&module(&body), Checks::ALL);
            let data = words_of(bytes * blocks);
            let input = machine.buffer(&[&data[..], &[0; 4]].concat());
            let output = machine.out::<u32>(data.len() + 4);
            let report = machine.run("k", blocks, 40, params![input, output, bytes]);
            assert!(report.findings.is_empty(), "{:#?}", report.findings);
            assert_memory(&machine, output, &data, format!("{bytes} {blocks}"));
            // The copy ends where it should.
            assert_eq!(
                machine.read::<u32>(output, data.len() + 4)[data.len()..],
                [0xa5a5_a5a5; 4]
            );
        }
    }
}

/// A read before the wait is a race with the copy, and no read of uninitialized memory; a read after it is none, also in
/// the buffer's second use.
#[test]
fn data_may_not_be_used_before_the_copy_is_waited_for() {
    let read = "ld.shared.u32 %r1, [tile+16]; // here";
    let again = "bar.sync 0; @%p1 fence.proxy.async;";
    for (body, count) in [
        (format!("{LOAD} bar.sync 0; {read} {WAIT}"), 32),
        (format!("{LOAD} {WAIT} {read}"), 0),
        (
            format!("{LOAD} {WAIT} {again} {LOAD} bar.sync 0; {read}"),
            32,
        ),
    ] {
        let ptx = module(&body);
        let mut machine = Machine::checking(&ptx, Checks::ALL);
        let (input, output) = (machine.buffer(&words_of(64)), machine.out::<u32>(1));
        let report = machine.run("k", 1, 32, params![input, output, 64u32]);
        let findings: Vec<_> = (report.findings.iter())
            .map(|finding| (finding.kind, finding.count, finding.likely_cause.clone()))
            .collect();
        let expected = (
            FindingKind::CopyNotAwaited,
            count,
            Some(Cause::BulkCopyNotAwaited),
        );
        let expected: Vec<_> = (count > 0).then_some(expected).into_iter().collect();
        assert_eq!(findings, expected, "{ptx}");
    }
}

/// A wait that never ends names the barrier, what it lacks, and why.
#[test]
fn a_timeout_names_the_barrier() {
    let few = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 80;";
    let two = "@%p1 mbarrier.init.shared::cta.b64 [bar], 2; bar.sync 0;";
    let copy = LOAD.split_once('\n').expect("two lines").1;
    let copy = copy.split_once('\n').expect("two lines").1;
    for (body, state, cause) in [
        (
            few.to_owned(),
            "0 of 1 arrivals are pending, and 80 bytes",
            "names more bytes than copies bring",
        ),
        (
            format!("{few}{copy}"),
            "0 of 1 arrivals are pending, and 16 bytes",
            "names more bytes than copies bring",
        ),
        (
            format!(
                "{copy} mbarrier.test_wait.parity.shared::cta.b64 %p3, [bar], 0;
                @%p1 mbarrier.arrive.shared::cta.b64 _, [bar];"
            ),
            "0 of 1 arrivals are pending, and 64 bytes too many have arrived",
            "more bytes than `expect_tx` names",
        ),
        (
            format!("{two} @%p1 mbarrier.arrive.shared::cta.b64 _, [bar];"),
            "1 of 2 arrivals are pending",
            "fewer threads arrive",
        ),
        (
            String::new(),
            "1 of 1 arrivals are pending",
            "no thread arrives in this phase",
        ),
        (
            "@%p1 mbarrier.inval.shared::cta.b64 [bar]; bar.sync 0;".to_owned(),
            "0 of 0 arrivals are pending",
            "not initialized",
        ),
    ] {
        let mut machine = Machine::new(&module(&format!("{body} {WAIT}")));
        machine.options.time_limit = Some(TimeLimit::Launch(Duration::from_millis(100)));
        let (input, output) = (machine.buffer(&words_of(64)), machine.out::<u32>(1));
        let fault = machine.fault("k", 1, 40, params![input, output, 64u32]);
        let message = fault.to_string();
        let expected =
            format!(", waiting for the mbarrier `bar` (offset 0x2000 of shared memory): {state}");
        for part in [&expected, "likely cause", cause] {
            assert!(message.contains(part), "{body}: {message}");
        }
    }
}

/// Stores that nothing waits for are complete when the kernel is.
#[test]
fn unawaited_stores_complete_with_the_block() {
    let body = format!(
        "{LOAD} {WAIT} @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], %n;"
    );
    let mut machine = Machine::new(&module(&body));
    let data = words_of(256);
    let (input, output) = (machine.buffer(&data), machine.out::<u32>(64));
    machine.run("k", 1, 1, params![input, output, 256u32]);
    assert_memory(&machine, output, &data, "no wait");
}

/// The first word shows the tile before the wait, the second after it.
#[test]
fn data_arrives_at_the_wait() {
    let body = format!(
        "st.shared.u32 [tile], 7; fence.proxy.async;
        {LOAD} ld.shared.u32 %r1, [tile]; {WAIT} ld.shared.u32 %r2, [tile];
        st.global.v2.u32 [%out], {{%r1, %r2}};"
    );
    let mut machine = Machine::new(&module(&body));
    let (input, output) = (machine.buffer(&[5u32; 4]), machine.out::<u32>(2));
    machine.run("k", 1, 1, params![input, output, 16u32]);
    assert_memory(&machine, output, &[7, 5], "before and after");
}

/// A store reads its source when its group is waited for: the newest group may still be in flight.
#[test]
fn waits_leave_the_newest_groups() {
    let body = "
        mov.u32 %r1, 1; st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1};
        cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.global.shared::cta.bulk_group [%out+16], [tile], 16;
        cp.async.bulk.commit_group;
        cp.async.bulk.wait_group.read 1;
        mov.u32 %r1, 2; st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1};
        ld.global.u32 %r3, [%out];
        cp.async.bulk.wait_group 0;
        mov.u32 %r1, 3; st.shared.v4.u32 [tile], {%r1, %r1, %r1, %r1};
        st.global.u32 [%out+32], %r3;";
    let mut machine = Machine::new(&module(body));
    let output = machine.out::<u32>(9);
    machine.run("k", 1, 1, params![output, output, 0u32]);
    let expected = [1, 1, 1, 1, 2, 2, 2, 2, 0xa5a5_a5a5u32];
    assert_memory(&machine, output, &expected, "groups");
}

#[test]
fn reductions_combine_source_and_destination() {
    // The operation, the old word and the new one, and the result. A word is 4 bytes of one or two elements.
    for (operation, old, new, expected) in [
        ("add.u32", u32::MAX, 2, 1),
        ("add.s32", 5, -7i32 as u32, -2i32 as u32),
        ("min.s32", 5, -7i32 as u32, -7i32 as u32),
        ("max.u32", 5, -7i32 as u32, -7i32 as u32),
        ("inc.u32", 5, 5, 0),
        ("dec.u32", 0, 5, 5),
        ("and.b32", 12, 10, 8),
        ("or.b32", 12, 10, 14),
        ("xor.b32", 12, 10, 6),
        ("add.noftz.f16", 0x3c00_3800, 0x3c00_3c00, 0x4000_3e00),
        ("add.noftz.bf16", 0x3f80_3f00, 0x3f80_3f80, 0x4000_3fc0),
        ("min.f16", 0x3c00_3800, 0x3800_3c00, 0x3800_3800),
        ("max.bf16", 0x3f80_3f00, 0xbf80_3f80, 0x3f80_3f80),
        (
            "add.f32",
            1.5f32.to_bits(),
            2f32.to_bits(),
            3.5f32.to_bits(),
        ),
    ] {
        let body = format!(
            "{LOAD} {WAIT}
            @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%out], [tile], %n;
            @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"
        );
        for bytes in [16u32, 400] {
            let mut machine = Machine::checking(&module(&body), Checks::ALL);
            let count = bytes as usize / 4;
            let (input, output) = (
                machine.buffer(&vec![new; count]),
                machine.buffer(&vec![old; count]),
            );
            let report = machine.run("k", 1, 32, params![input, output, bytes]);
            assert!(report.findings.is_empty(), "{:#?}", report.findings);
            assert_memory(&machine, output, &vec![expected; count], operation);
        }
    }
    for (operation, old, new, expected) in [
        ("add.u64", u64::MAX, 2, 1),
        ("min.s64", 1, u64::MAX, u64::MAX),
        ("max.u64", 1, u64::MAX, u64::MAX),
        ("xor.b64", 12 << 40, 10 << 40, 6 << 40),
        (
            "add.f64",
            1.5f64.to_bits(),
            2f64.to_bits(),
            3.5f64.to_bits(),
        ),
    ] {
        let body = format!(
            "{LOAD} {WAIT}
            @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.{operation} [%out], [tile], %n;"
        );
        let mut machine = Machine::new(&module(&body));
        let (input, output) = (machine.buffer(&[new; 6]), machine.buffer(&[old; 6]));
        machine.run("k", 1, 1, params![input, output, 48u32]);
        assert_memory(&machine, output, &[expected; 6], operation);
    }
}

/// Blocks add to the same elements at once.
#[test]
fn reductions_of_many_blocks_are_atomic() {
    let body = format!(
        "{LOAD} {WAIT}
        @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%out], [tile], %n;"
    );
    let mut machine = Machine::new(&module(&body));
    let data = words_of(1024);
    let (input, output) = (machine.buffer(&data), machine.buffer(&[0u32; 256]));
    machine.run("k", 200, 32, params![input, output, 1024u32]);
    let expected: Vec<u32> = data.iter().map(|word| word.wrapping_mul(200)).collect();
    assert_memory(&machine, output, &expected, "sums");
}

/// Runs a kernel with clusters of `size` blocks, in each of which the first block loads `bytes` bytes.
fn run_cluster(body: &str, size: u32, bytes: u32) -> (Machine, u64) {
    let mut machine = Machine::new(&module(body));
    let input = machine.buffer(&words_of(bytes.max(16)));
    let output = machine.out::<u32>((2 * size * bytes.max(16)) as usize / 4);
    let launch = Launch::new("k", 2 * size, 32, params![input, output, bytes]).cluster(size);
    machine
        .launch(&launch)
        .unwrap_or_else(|fault| panic!("{size} {bytes}: {fault}"));
    (machine, output)
}

const ONLY_FIRST_BLOCK: &str = "
    mov.u32 %r1, %cluster_ctarank;
    setp.eq.and.u32 %p3, %r1, 0, %p1;
    mul.wide.u32 %d1, %b, %n; add.u64 %out, %out, %d1;";

#[test]
fn multicasts_reach_the_blocks_of_the_mask() {
    let body = format!(
        "{ONLY_FIRST_BLOCK}
        and.b32 %r2, %r1, 1; setp.eq.u32 %p4, %r2, 0;
        @!%p4 bra DONE;
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
        mov.u16 %h1, 0x5555;
        @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
            [tile], [%in], %n, [bar], %h1;
        {WAIT} {STORE}
    DONE:
        barrier.cluster.arrive; barrier.cluster.wait;"
    );
    for (size, mask) in [(1, "1"), (2, "1"), (4, "0x5"), (8, "0x55")] {
        for bytes in [16, 208] {
            let body = body.replace("0x5555", mask);
            let (machine, output) = run_cluster(&body, size, bytes);
            let data = words_of(bytes);
            let expected: Vec<u32> = (0..2 * size)
                .flat_map(|block| match block % size % 2 {
                    0 => data.clone(),
                    _ => vec![0xa5a5_a5a5; data.len()],
                })
                .collect();
            assert_memory(&machine, output, &expected, format!("{size} {bytes}"));
        }
    }
}

/// Each block passes its tile to the next block of the cluster.
#[test]
fn blocks_copy_to_shared_memory_of_their_cluster() {
    let body = format!(
        "{ONLY_FIRST_BLOCK}
        shl.b32 %r3, %t, 2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;
        st.shared.u32 [%r4+4096], %b;
        fence.proxy.async.shared::cta; bar.sync 0;
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
        add.u32 %r5, %r1, 1; mov.u32 %r6, %cluster_nctarank; rem.u32 %r5, %r5, %r6;
        mapa.shared::cluster.u32 %r7, tile, %r5; mapa.shared::cluster.u32 %r8, bar, %r5;
        @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
            [%r7], [tile+4096], %n, [%r8];
        {WAIT} {STORE}
        barrier.cluster.arrive; barrier.cluster.wait;"
    );
    for size in [1, 2, 5] {
        for bytes in [16, 128] {
            let (machine, output) = run_cluster(&body, size, bytes);
            let expected: Vec<u32> = (0..2 * size)
                .flat_map(|block| {
                    let from = block / size * size + (block % size + size - 1) % size;
                    vec![from; bytes as usize / 4]
                })
                .collect();
            assert_memory(&machine, output, &expected, format!("{size} {bytes}"));
        }
    }
}

/// Each block stores and adds to the tile of the next block of the cluster, which waits for all bytes.
#[test]
fn asynchronous_stores_report_to_a_barrier() {
    let body = format!(
        "{ONLY_FIRST_BLOCK}
        mov.u64 %d3, 100;
        @%p1 st.shared.u64 [tile+32], %d3;
        bar.sync 0;
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 172;
        barrier.cluster.arrive; barrier.cluster.wait;
        add.u32 %r5, %r1, 1; mov.u32 %r6, %cluster_nctarank; rem.u32 %r5, %r5, %r6;
        mapa.shared::cluster.u32 %r7, tile, %r5; mapa.shared::cluster.u32 %r8, bar, %r5;
        mov.u32 %r9, 9; cvt.u64.u32 %d4, %b; mov.u32 %r10, 10;
        @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7], %b, [%r8];
        @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%r7+16], {{%d4, %d3}}, [%r8];
        @%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r7+48], {{%r9, %b, %r9, %r10}}, [%r8];
        setp.lt.u32 %p5, %t, 17;
        @%p5 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%r7+32], %d4, [%r8];
        {WAIT} {STORE}
        barrier.cluster.arrive; barrier.cluster.wait;"
    );
    for size in [1, 3] {
        let (machine, output) = run_cluster(&body, size, 64);
        let actual: Vec<u32> = machine.read(output, (2 * size * 16) as usize);
        for block in 0..2 * size {
            let from = block / size * size + (block % size + size - 1) % size;
            let tile = &actual[block as usize * 16..][..16];
            assert_eq!(tile[0], from);
            assert_eq!(tile[4..10], [from, 0, 100, 0, 100 + 17 * from, 0]);
            assert_eq!(tile[12..], [9, from, 9, 10]);
        }
    }
}

#[test]
fn invalid_copies_fault() {
    let fault = |instruction: &str| {
        let mut machine = Machine::new(&module(&format!("@%p1 {instruction} {WAIT}")));
        let input = machine.buffer(&[0u32; 64]);
        let launch = Launch::new("k", 1, 1, params![input, input, 16u32]);
        machine.launch(&launch).expect_err(instruction)
    };
    let load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    let store = "cp.async.bulk.global.shared::cta.bulk_group";
    for (instruction, bytes) in [
        (format!("{load} [tile+8], [%in], 16, [bar];"), 16),
        (format!("{load} [tile], [%in+4], 16, [bar];"), 16),
        (format!("{load} [tile], [%in], 16, [bar+4];"), 8),
        (format!("{store} [%out+8], [tile], 16;"), 16),
        (format!("{store} [%out], [tile+4], 16;"), 16),
    ] {
        let kind = fault(&instruction).kind;
        assert!(
            matches!(kind, FaultKind::MisalignedAddress { bytes: unit, .. } if unit == bytes),
            "{instruction}: {kind}"
        );
    }
    for (instruction, write, memory) in [
        (
            format!("{load} [tile], [%in], 272, [bar];"),
            false,
            AddressedMemory::Device,
        ),
        (
            format!("{load} [tile+8176], [%in], 64, [bar];"),
            true,
            AddressedMemory::Shared,
        ),
        (
            format!("{load} [tile], [%in], 16, [bar+8192];"),
            true,
            AddressedMemory::Shared,
        ),
        (
            format!("{store} [%out+256], [tile], 16;"),
            true,
            AddressedMemory::Device,
        ),
        (
            format!("{store} [%out], [tile+8192], 16384;"),
            false,
            AddressedMemory::Shared,
        ),
    ] {
        let kind = fault(&instruction).kind;
        assert!(
            matches!(kind, FaultKind::IllegalAddress { write: w, memory: m, .. } if (w, m) == (write, memory)),
            "{instruction}: {kind}"
        );
    }
    for size in [4, 24] {
        let kind = fault(&format!("{load} [tile], [%in], {size}, [bar];")).kind;
        assert_eq!(kind, FaultKind::BulkCopy(BulkCopyMisuse::InvalidSize(size)));
    }
}

#[test]
fn checks_report_uninitialized_sources() {
    let run = |body: &str| {
        let mut machine = Machine::checking(&module(body), Checks::ALL);
        let (input, output) = (machine.buffer(&[1u32; 64]), machine.out::<u32>(64));
        machine
            .run("k", 1, 64, params![input, output, 256u32])
            .findings
    };
    let findings = run(STORE);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].kind, FindingKind::UninitializedShared);
    // The second warp may store before or after the copy reads.
    let racy = format!(
        "shl.b32 %r3, %t, 2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;
        st.shared.u32 [%r4], %t; {STORE}"
    );
    assert!(!run(&racy).is_empty());
    let ordered = racy.replace("%t; \n", "%t; fence.proxy.async; bar.sync 0;\n");
    assert_ne!(ordered, racy);
    let findings = run(&ordered);
    assert!(findings.is_empty(), "{findings:#?}");
}

/// Copies count as if each thread of full warps copied 16 bytes.
#[test]
fn copies_are_counted_on_both_sides() {
    let body = format!("{LOAD} {WAIT} {STORE}");
    for (bytes, sectors, requests) in [(16, 1, 1), (48, 2, 1), (4096, 128, 8)] {
        let mut machine = Machine::profiling(&module(&body));
        let data = words_of(bytes);
        let (input, output) = (machine.buffer(&data), machine.out::<u32>(data.len()));
        let report = machine.run("k", 1, 32, params![input, output, bytes]);
        assert_memory(&machine, output, &data, "profiled");
        let tally = total(&report);
        for class in [AccessClass::CopyReadBypassL1, AccessClass::GlobalStore] {
            let counts = tally[class];
            let actual = (counts.sectors, counts.requests, counts.threads);
            assert_eq!(
                actual,
                (sectors, requests, u64::from(bytes) / 16),
                "{class:?}"
            );
        }
        for class in [AccessClass::CopyWrite, AccessClass::SharedLoad] {
            assert_eq!(tally[class].threads, u64::from(bytes) / 16, "{class:?}");
        }
    }
}

/// The results do not depend on the order in which warps and blocks run.
#[test]
fn copies_work_under_random_schedules() {
    let body = format!(
        "mul.wide.u32 %d1, %b, %n; add.u64 %in, %in, %d1; add.u64 %out, %out, %d1;
        {LOAD} {WAIT} {STORE}"
    );
    for seed in 0..4 {
        let mut machine = Machine::new(&module(&body));
        machine.options.conditions.shuffle = Some(seed);
        let data = words_of(7 * 208);
        let (input, output) = (machine.buffer(&data), machine.out::<u32>(data.len()));
        machine.run("k", 7, 96, params![input, output, 208u32]);
        assert_memory(&machine, output, &data, seed);
    }
}

#[test]
fn invalid_forms_are_rejected() {
    for (instruction, expected) in cases(
        r"
        cp.async.bulk.shared::cluster.global [tile], [%in], 16, [bar]; => is not simulated
        cp.async.bulk.global.shared::cta [%out], [tile], 16; => is not simulated
        cp.async.bulk.global.shared::cta.bulk_group.multicast::cluster [%out], [tile], 16; => is not simulated
        cp.async.bulk.global.shared::cta.bulk_group [%out], [tile]; => has the wrong operands
        cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 16; => has the wrong operands
        cp.async.bulk.wait_group %r1; => takes a literal number of groups
        cp.async.bulk.tensor.6d.global.shared::cta.bulk_group [%out, {%r1}], [tile]; => is not simulated
        cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%out, {%r1}], [tile]; => takes 2 coordinates, not 1
        cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%out], [tile], 16; => is not simulated
        st.async.shared::cta.mbarrier::complete_tx::bytes.u32 [tile], %r1, [bar]; => is not simulated
        st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [tile], %r1, [bar]; => length of the vector
        red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.f32 [tile], %r1, [bar]; => is not simulated
    ",
    ) {
        assert_load_error(&module(instruction), expected);
    }
    let older = module("cp.async.bulk.commit_group;").replace("sm_90", "sm_80");
    assert_load_error(&older, "requires `.target sm_90` or newer");
}

/// A GPU does not detect a source that ends in the last granule of its allocation, and rounds other sizes down to a
/// multiple of 16 bytes. Both are warnings then, and errors of the memory check.
#[test]
fn undetected_misuse_is_found_and_the_kernel_continues() {
    let memory = Checks {
        memory: true,
        ..Checks::NONE
    };
    let past_end = format!("{LOAD} {WAIT} {STORE}");
    let rounded = past_end.replace("[%in], %n", "[%in], 24");
    for (body, elements, bytes, expected) in [
        (&past_end, 10, 48u32, FindingKind::OutOfBounds),
        (&rounded, 8, 16, FindingKind::Misaligned),
    ] {
        for (checks, severity) in [(Checks::NONE, Severity::Warning), (memory, Severity::Error)] {
            let mut machine = Machine::checking(&module(body), checks);
            machine.options.fault_model = FaultModel::Hardware;
            let data = words_of(4 * elements);
            let (input, output) = (machine.buffer(&data), machine.out::<u32>(12));
            let report = machine.run("k", 1, 32, params![input, output, bytes]);
            let [finding] = &report.findings[..] else {
                panic!("{:#?}", report.findings);
            };
            assert_eq!((finding.kind, finding.severity), (expected, severity));
            assert!(finding.is_undetected() && !finding.stops());
            let copied = (bytes / 4).min(elements) as usize;
            let actual: Vec<u32> = machine.read(output, 12);
            assert_eq!(actual[..copied], data[..copied]);
        }
    }
}

#[test]
fn an_empty_copy_outside_shared_memory_faults() {
    let body = LOAD.replace("[tile]", "[tile+65536]");
    let mut machine = Machine::new(&module(&body));
    let (input, output) = (machine.buffer(&[0u32; 4]), machine.out::<u32>(1));
    let launch = Launch::new("k", 1, 32, params![input, output, 0u32]);
    let fault = machine.launch(&launch).expect_err("it has no fault");
    assert!(
        matches!(fault.kind, FaultKind::IllegalAddress { .. }),
        "{fault}"
    );
}
