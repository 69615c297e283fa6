//! Clusters of blocks: their registers, their barrier, and shared memory of other blocks.

use crate::harness::*;
use cuda_sim::check::Checks;
use cuda_sim::exec::FaultKind;

/// The sizes of grids and clusters, in blocks.
const SIZES: [([u32; 3], [u32; 3]); 7] = [
    ([1, 1, 1], [1, 1, 1]),
    ([4, 1, 1], [2, 1, 1]),
    ([24, 1, 1], [8, 1, 1]),
    ([6, 4, 1], [3, 2, 1]),
    ([4, 6, 2], [2, 1, 2]),
    ([300, 1, 1], [4, 1, 1]),
    ([32, 1, 1], [16, 1, 1]),
];

/// Returns a module for `sm_90` with one kernel, `k`. `%b` is the number of the block, `%g` that of the thread in the
/// grid, and `%mine` the address of the thread's word.
fn module(body: &str) -> String {
    module_with("", "", body)
}

fn module_with(before: &str, directives: &str, body: &str) -> String {
    format!(
        ".version 8.0
.target sm_90
.address_size 64
{before}
.visible .entry k(.param .u64 p) {directives} {{
    .reg .pred %p<16>; .reg .b32 %r<32>; .reg .b32 %t, %b, %g; .reg .b64 %d<16>; .reg .b64 %out, %mine;
    ld.param.u64 %out, [p];
    mov.u32 %t, %tid.x;
    mov.u32 %r0, %ctaid.z; mov.u32 %r1, %nctaid.y; mov.u32 %r2, %ctaid.y;
    mad.lo.u32 %b, %r0, %r1, %r2;
    mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %b, %b, %r1, %r2;
    mov.u32 %r1, %ntid.x;
    mad.lo.u32 %g, %b, %r1, %t;
    mad.wide.u32 %mine, %g, 4, %out;
{body}
    ret;
}}
"
    )
}

/// A thread of a launch with clusters.
struct Place {
    grid: [u32; 3],
    size: [u32; 3],
    block: [u32; 3],
    thread: u32,
}

impl Place {
    fn rank(&self) -> u32 {
        let [x, y, z] = [0, 1, 2].map(|axis| self.block[axis] % self.size[axis]);
        (z * self.size[1] + y) * self.size[0] + x
    }

    /// Returns the number in the grid of the block `rank` of the cluster.
    fn block_of_rank(&self, rank: u32) -> u32 {
        let [w, h, _] = self.size;
        let within = [rank % w, rank / w % h, rank / w / h];
        let at: [u32; 3] = std::array::from_fn(|axis| {
            self.block[axis] / self.size[axis] * self.size[axis] + within[axis]
        });
        (at[2] * self.grid[1] + at[1]) * self.grid[0] + at[0]
    }

    fn blocks(&self) -> u32 {
        self.size.iter().product()
    }
}

/// Asserts that each thread stores the word `expected` of its place, at all sizes of clusters.
fn assert_places(ptx: &str, threads: u32, expected: impl Fn(&Place) -> u32) {
    for (grid, size) in SIZES {
        let mut machine = Machine::new(ptx);
        let blocks: u32 = grid.iter().product();
        let count = (blocks * threads) as usize;
        let out = machine.out::<u32>(count);
        let launch = Launch::new("k", grid, threads, params![out]).cluster(size);
        machine
            .launch(&launch)
            .unwrap_or_else(|fault| panic!("{grid:?} {size:?}: {fault}"));
        let actual: Vec<u32> = machine.read(out, count);
        for (number, actual) in (0..).zip(actual) {
            let block = number / threads;
            let [w, h, _] = grid;
            let place = Place {
                grid,
                size,
                block: [block % w, block / w % h, block / w / h],
                thread: number % threads,
            };
            let expected = expected(&place);
            assert_eq!(actual, expected, "{grid:?} {size:?}: thread {number}");
        }
    }
}

#[test]
fn registers_describe_the_cluster() {
    let body = "
    mov.u32 %r1, %cluster_ctarank;
    mov.u32 %r2, %cluster_nctarank;
    mov.u32 %r3, %clusterid.x; mov.u32 %r4, %clusterid.y; mov.u32 %r5, %nclusterid.x;
    mov.u32 %r6, %cluster_ctaid.y; mov.u32 %r7, %cluster_nctaid.x; mov.u32 %r8, %cluster_ctaid.x;
    mov.pred %p1, %is_explicit_cluster; selp.u32 %r9, 1, 0, %p1;
    mad.lo.u32 %r1, %r1, 17, %r2;
    mad.lo.u32 %r1, %r1, 17, %r3; mad.lo.u32 %r1, %r1, 17, %r4; mad.lo.u32 %r1, %r1, 17, %r5;
    mad.lo.u32 %r1, %r1, 17, %r6; mad.lo.u32 %r1, %r1, 17, %r7; mad.lo.u32 %r1, %r1, 17, %r8;
    mad.lo.u32 %r1, %r1, 17, %r9;
    st.global.u32 [%mine], %r1;";
    let mix = |values: &[u32]| {
        let add = |sum: u32, value: &u32| sum.wrapping_mul(17).wrapping_add(*value);
        values.iter().fold(0, add)
    };
    assert_places(&module(body), 33, |place| {
        let (block, size) = (place.block, place.size);
        mix(&[
            place.rank(),
            place.blocks(),
            block[0] / size[0],
            block[1] / size[1],
            place.grid[0] / size[0],
            block[1] % size[1],
            size[0],
            block[0] % size[0],
            1,
        ])
    });
    // Without clusters, every block is a cluster.
    let mut machine = Machine::new(&module(body));
    let out = machine.out::<u32>(6);
    machine
        .launch(&Launch::new("k", 6, 1, params![out]))
        .expect("the kernel faulted");
    let expected: Vec<u32> = (0..6).map(|b| mix(&[0, 1, b, 0, 6, 0, 1, 0, 0])).collect();
    assert_memory(&machine, out, &expected, "no cluster");
}

/// Each block stores into its shared memory, and reads that of the next block in the cluster.
#[test]
fn blocks_read_shared_memory_of_their_cluster() {
    let body = "
    .shared .align 4 .b32 pad[3];
    .shared .align 4 .b32 tile[256];
    mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2;
    st.shared.u32 [pad], %t;
    st.shared.u32 [%r1], %g;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    mov.u32 %r3, %cluster_ctarank; add.u32 %r3, %r3, 1;
    mov.u32 %r4, %cluster_nctarank; rem.u32 %r3, %r3, %r4;
    mapa.shared::cluster.u32 %r5, %r1, %r3;
    ld.shared::cluster.u32 %r6, [%r5];
    cvta.shared.u64 %d2, tile;
    mapa.u64 %d2, %d2, %r3;
    mad.wide.u32 %d1, %t, 4, %d2;
    ld.u32 %r7, [%d1];
    getctarank.u64 %r8, %d1;
    getctarank.shared::cluster.u32 %r9, %r1;
    mov.u32 %r10, %cluster_ctarank;
    sub.u32 %r9, %r9, %r10;
    mapa.shared::cluster.u64 %d3, tile, %r3;
    getctarank.shared::cluster.u64 %r11, %d3;
    add.u32 %r6, %r6, %r7;
    mad.lo.u32 %r6, %r8, 1000003, %r6;
    mad.lo.u32 %r6, %r9, 77, %r6;
    mad.lo.u32 %r6, %r11, 5, %r6;
    barrier.cluster.arrive; barrier.cluster.wait;
    st.global.u32 [%mine], %r6;";
    for threads in [1, 32, 33, 256] {
        assert_places(&module(body), threads, |place| {
            let next = (place.rank() + 1) % place.blocks();
            let word = place.block_of_rank(next) * threads + place.thread;
            2 * word + next * 1_000_003 + next * 5
        });
    }
}

/// All blocks of a cluster add to a counter in the shared memory of the first one, with several phases of the barrier
/// in which some threads have exited.
#[test]
fn atomics_reach_other_blocks_in_every_phase() {
    let body = "
    .shared .align 4 .b32 sum;
    st.shared.u32 [sum], 0;
    mov.u32 %r1, 0;
    mapa.shared::cluster.u32 %r2, sum, %r1;
    mov.u32 %r3, 0;
    st.global.u32 [%mine], 0;
    setp.eq.u32 %p3, %t, 40;
    @%p3 exit;
LOOP:
    barrier.cluster.arrive; barrier.cluster.wait;
    red.shared::cluster.add.u32 [%r2], 1;
    atom.shared::cluster.add.u32 %r4, [%r2], 1;
    barrier.cluster.arrive.relaxed;
    barrier.cluster.wait;
    ld.shared::cluster.u32 %r5, [%r2];
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 3;
    @%p1 bra LOOP;
    st.global.u32 [%mine], %r5;
    barrier.cluster.arrive; barrier.cluster.wait;";
    for threads in [1, 33, 64] {
        assert_places(&module(body), threads, |place| match place.thread {
            40 => 0,
            _ => (threads - u32::from(threads > 40)) * place.blocks() * 6,
        });
    }
}

/// An arrival does not wait: the work between arrival and wait may release the other blocks.
#[test]
fn blocks_signal_each_other_between_arrival_and_wait() {
    let body = "
    .shared .align 8 .b64 bar;
    .shared .align 4 .b32 box;
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    mov.u32 %r3, %cluster_ctarank; add.u32 %r3, %r3, 1;
    mov.u32 %r4, %cluster_nctarank; rem.u32 %r3, %r3, %r4;
    mapa.shared::cluster.u32 %r5, box, %r3;
    mapa.shared::cluster.u32 %r6, bar, %r3;
    barrier.cluster.arrive;
    @%p1 st.shared::cluster.u32 [%r5], %b;
    @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
WAIT:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;
    ld.shared.u32 %r7, [box];
    barrier.cluster.wait;
    st.global.u32 [%mine], %r7;";
    for threads in [1, 64] {
        assert_places(&module(body), threads, |place| {
            let size = place.blocks();
            place.block_of_rank((place.rank() + size - 1) % size)
        });
    }
}

#[test]
fn address_spaces_of_blocks_are_distinguished() {
    let body = "
    .shared .align 4 .b32 word;
    mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1;
    cvta.shared.u64 %d1, word;
    mapa.u64 %d2, %d1, %r3;
    mapa.u64 %d3, %d1, %r4;
    isspacep.shared::cta %p1, %d1; isspacep.shared::cta %p2, %d2; isspacep.shared %p3, %d3;
    isspacep.shared::cluster %p4, %d3; isspacep.shared::cluster %p5, %out; isspacep.global %p6, %d3;
    selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 10, 0, %p2; add.u32 %r1, %r1, %r2;
    selp.u32 %r2, 100, 0, %p3; add.u32 %r1, %r1, %r2; selp.u32 %r2, 1000, 0, %p4; add.u32 %r1, %r1, %r2;
    selp.u32 %r2, 10000, 0, %p5; add.u32 %r1, %r1, %r2; selp.u32 %r2, 100000, 0, %p6; add.u32 %r1, %r1, %r2;
    st.global.u32 [%mine], %r1;";
    let ptx = module_with("", ".reqnctapercluster 2, 1, 1", body);
    let mut machine = Machine::new(&ptx);
    let out = machine.out::<u32>(4);
    machine
        .launch(&Launch::new("k", 4, 1, params![out]))
        .expect("the kernel faulted");
    assert_memory(&machine, out, &[1011; 4], "the kernel's own cluster size");
}

#[test]
fn accesses_beyond_the_cluster_fault() {
    for (body, expected, details) in [
        (
            "mapa.shared::cluster.u32 %r1, word, 2; ld.shared::cluster.u32 %r2, [%r1];",
            "illegal address: read of 4 bytes at offset 0x0 in the shared memory of block 2 of the cluster",
            "the cluster has 2 blocks",
        ),
        (
            "mapa.shared::cluster.u32 %r1, word, 1; st.shared::cluster.u32 [%r1+4], %r1;",
            "illegal address: write of 4 bytes at offset 0x4 in the shared memory of block 1 of the cluster",
            "right past the end of the block's 4 bytes of shared memory",
        ),
        (
            "cvta.shared.u64 %d1, word; mapa.u64 %d1, %d1, 1; ld.u32 %r1, [%d1+8];",
            "illegal address: read of 4 bytes at offset 0x8 in the shared memory of block 1 of the cluster",
            "4 bytes past the end",
        ),
        (
            "mapa.shared::cluster.u32 %r1, word, 1; ld.shared::cluster.u32 %r2, [%r1+2];",
            "misaligned address: offset 0x2 in the shared memory of block 1 of the cluster is not a multiple of 4",
            "2 bytes past an aligned address",
        ),
        (
            "ld.shared.u32 %r2, [word+-4];",
            "illegal address: read of 4 bytes at 0xfffffffffffffffc, outside every shared memory allocation",
            "",
        ),
    ] {
        let body = format!(".shared .align 4 .b32 word; {body}");
        let mut machine = Machine::new(&module(&body));
        let out = machine.out::<u32>(2);
        let launch = Launch::new("k", 2, 1, params![out]).cluster(2);
        let fault = machine.launch(&launch).expect_err("the access succeeded");
        let message = fault.to_string();
        assert!(message.starts_with(expected), "{body}: {message}");
        assert!(message.contains(details), "{body}: {message}");
    }
}

/// A block that faults ends its cluster: the others would wait for it.
#[test]
fn a_fault_ends_the_cluster() {
    let body = "
    setp.eq.u32 %p1, %b, 5;
    @%p1 trap;
    barrier.cluster.arrive; barrier.cluster.wait;
    st.global.u32 [%mine], 1;";
    let mut machine = Machine::new(&module(body));
    let out = machine.out::<u32>(64 * 32);
    let launch = Launch::new("k", 64, 32, params![out]).cluster(4);
    let fault = machine.launch(&launch).expect_err("the trap was ignored");
    assert!(matches!(fault.kind, FaultKind::Trap), "{fault}");
    assert_eq!(location(&fault).block, [5, 0, 0]);
}

/// Under checks, random schedules and profiling, the result stays the same and there are no findings.
#[test]
fn checks_and_schedules_report_nothing() {
    let body = "
    .shared .align 4 .b32 tile[64];
    mov.u32 %r1, tile; mad.lo.u32 %r1, %t, 4, %r1;
    mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1;
    mapa.shared::cluster.u32 %r5, %r1, %r3;
    barrier.cluster.arrive; barrier.cluster.wait;
    st.shared::cluster.u32 [%r5], %g;
    barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r6, %t, 63; mov.u32 %r7, tile; mad.lo.u32 %r7, %r6, 4, %r7;
    ld.shared.u32 %r8, [%r7];
    st.global.u32 [%mine], %r8;
    barrier.cluster.arrive; barrier.cluster.wait;
    xor.b32 %r9, %b, 1; mad.lo.u32 %r9, %r9, 64, %t; mad.wide.u32 %d1, %r9, 4, %out;
    ld.global.u32 %r10, [%d1];
    st.shared.u32 [%r1], %r10;";
    let expected: Vec<u32> = (0..8 * 64)
        .map(|n| (n ^ 64) / 64 * 64 + ((n % 64) ^ 63))
        .collect();
    for (checks, seed) in [
        (Checks::ALL, None),
        (Checks::NONE, Some(1)),
        (Checks::ALL, Some(7)),
    ] {
        let mut machine = Machine::new(&module(body));
        machine.options.checks = checks;
        machine.options.conditions.shuffle = seed;
        let out = machine.out::<u32>(8 * 64);
        let report = machine.report(&Launch::new("k", 8, 64, params![out]).cluster(2));
        assert!(report.result.is_ok(), "{:?}", report.result.err());
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        assert_memory(&machine, out, &expected, format!("{seed:?}"));
    }
    let mut machine = Machine::profiling(&module(body));
    let out = machine.out::<u32>(8 * 64);
    let report = machine.report(&Launch::new("k", 8, 64, params![out]).cluster(2));
    assert_eq!(
        total(&report)[cuda_sim::isa::AccessClass::SharedStore].threads,
        2 * 8 * 64
    );
    assert_memory(&machine, out, &expected, "profiled");
}

#[test]
fn invalid_forms_are_rejected() {
    for (instruction, expected) in cases(
        r"
        barrier.cluster.sync; => is not simulated
        barrier.cluster.arrive.acquire; => is not simulated
        barrier.cluster.wait.release; => is not simulated
        barrier.cluster.wait %r1; => takes 0 operands
        mapa.shared::cta.u32 %r1, %r2, %r3; => is not simulated
        mapa.shared::cluster.u32 %d1, %r2, %r3; => `%d1` is 64 bits wide
        mapa.shared::cluster.u32 %r1, %r2; => takes 3 operands
        getctarank.shared::cluster.u32 %r1, %r2, %r3; => takes 2 operands
    ",
    ) {
        assert_load_error(&module(instruction), expected);
    }
    let older = module("barrier.cluster.arrive;").replace("sm_90", "sm_80");
    assert_load_error(&older, "requires `.target sm_90` or newer");
}
