//! Barrier objects in shared memory (`mbarrier`), and matrices stored there (`stmatrix`).

use crate::harness::*;
use cuda_sim::check::Checks;
use cuda_sim::exec::FaultKind;
use cuda_sim::isa::AccessClass;

/// Returns a kernel with a barrier object and some shared memory, for the newest targets that are needed.
fn kernel(body: &str) -> String {
    module_of(
        "",
        &format!(".shared .align 16 .b64 bar; .shared .align 16 .b8 tile[4096];\n{body}"),
    )
    .replace(".version 7.0\n.target sm_80", ".version 8.0\n.target sm_90")
}

/// Runs `body` on one thread and returns the word that it leaves in `%r1`.
fn run_word(body: &str) -> u32 {
    let body = format!("{body}\nst.global.u32 [%mine], %r1;");
    words(&kernel(&body), 1).unwrap_or_else(|fault| panic!("{fault}"))[0]
}

const INIT: &str = "mov.u32 %r9, bar; mbarrier.init.shared.b64 [%r9], 3;";

#[test]
fn phase_ends_with_last_arrival() {
    for (body, expected) in [
        // The returned state is the one before the arrival.
        ("mbarrier.arrive.shared.b64 %d3, [%r9]; mbarrier.pending_count.b64 %r1, %d3;", 3),
        (
            "mbarrier.arrive.release.cta.shared::cta.b64 _, [bar], 2; mbarrier.arrive.noComplete.shared.b64 %d3, [%r9], 0;
            mbarrier.pending_count.b64 %r1, %d3;",
            1,
        ),
        ("mbarrier.arrive.shared.b64 %d3, [%r9], 2; mbarrier.test_wait.shared.b64 %p1, [%r9], %d3; selp.u32 %r1, 1, 0, %p1;", 0),
        ("mbarrier.arrive.shared.b64 %d3, [%r9], 3; mbarrier.test_wait.shared.b64 %p1, [%r9], %d3; selp.u32 %r1, 1, 0, %p1;", 1),
        ("mbarrier.test_wait.parity.shared.b64 %p1, [%r9], 0; selp.u32 %r1, 1, 0, %p1;", 0),
        ("mbarrier.test_wait.parity.shared.b64 %p1, [%r9], 1; selp.u32 %r1, 1, 0, %p1;", 1),
        (
            "mbarrier.arrive.shared.b64 _, [%r9], 3; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [%r9], 0, 1000;
            selp.u32 %r1, 1, 0, %p1;",
            1,
        ),
        // A thread that drops out does not count in the next phase.
        (
            "mbarrier.arrive_drop.shared.b64 _, [%r9]; mbarrier.arrive.shared.b64 _, [%r9], 2;
            mbarrier.arrive.shared.b64 %d3, [%r9]; mbarrier.pending_count.b64 %r1, %d3;",
            2,
        ),
        // A phase also waits for its expected bytes.
        (
            "mbarrier.arrive.expect_tx.shared.b64 %d3, [%r9], 48; mbarrier.arrive.shared.b64 _, [%r9], 2;
            mbarrier.try_wait.shared.b64 %p1, [%r9], %d3; selp.u32 %r1, 1, 0, %p1;
            mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r9], 48;
            mbarrier.try_wait.shared.b64 %p1, [%r9], %d3; @%p1 add.u32 %r1, %r1, 2;",
            2,
        ),
        (
            "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 16; mbarrier.arrive.shared.b64 %d3, [%r9], 3;
            mbarrier.test_wait.shared.b64 %p1, [%r9], %d3; selp.u32 %r1, 1, 0, %p1;",
            0,
        ),
        // A generic address works too.
        (
            "mov.u64 %d4, bar; cvta.shared.u64 %d4, %d4; mbarrier.arrive.b64 _, [%d4], 3;
            mbarrier.test_wait.parity.b64 %p1, [%d4], 0; selp.u32 %r1, 1, 0, %p1;",
            1,
        ),
    ] {
        assert_eq!(run_word(&format!("{INIT}\n{body}")), expected, "{body}");
    }
}

#[test]
fn invalid_barrier_operations_fault() {
    for (body, expected) in cases(
        r"
        mbarrier.init.shared.b64 [bar], 0; => thread count is 0 or more than 1048575
        mov.u32 %r1, 1048576; mbarrier.init.shared.b64 [bar], %r1; => thread count is 0 or more than 1048575
        INIT mbarrier.arrive.shared.b64 _, [%r9], 4; => more threads arrive
        INIT mbarrier.inval.shared.b64 [%r9]; mbarrier.arrive.shared.b64 _, [%r9]; => more threads arrive
        INIT mbarrier.arrive.noComplete.shared.b64 _, [%r9], 3; => noComplete
        INIT mov.u32 %r1, 1048576; mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], %r1; => more bytes
    ",
    ) {
        let body = body.replace("INIT", INIT);
        let fault = words(&kernel(&body), 1).expect_err(&body);
        let is_expected = matches!(fault.kind, FaultKind::Mbarrier(_));
        assert!(is_expected, "{body}: {fault}");
        assert!(fault.to_string().contains(expected), "{body}: {fault}");
    }
    for (address, misaligned) in [("[%r9+4]", true), ("[%r9+100000]", false)] {
        let body = format!("{INIT} mbarrier.arrive.shared.b64 _, {address};");
        let fault = words(&kernel(&body), 1).expect_err(address);
        let actual = matches!(fault.kind, FaultKind::MisalignedAddress { .. });
        assert_eq!(actual, misaligned, "{fault}");
    }
}

/// A producer warp and a consumer warp exchange one word per lane through one buffer, many times.
fn producer_consumer() -> String {
    kernel(
        ".shared .align 8 .b64 full; .shared .align 8 .b64 empty;
        setp.ne.u32 %p1, %t, 0;
        @%p1 bra MADE;
        mbarrier.init.shared.b64 [full], 32;
        mbarrier.init.shared.b64 [empty], 32;
    MADE:
        bar.sync 0;
        and.b32 %r1, %t, 31;
        shl.b32 %r2, %r1, 2;
        mov.u32 %r3, tile;
        add.u32 %r3, %r3, %r2;
        mov.u32 %r4, 0;
        mov.u32 %r5, 0;
        setp.ge.u32 %p2, %t, 32;
        @%p2 bra TAKE;
    MAKE:
        and.b32 %r6, %r4, 1;
        xor.b32 %r6, %r6, 1;
    WAIT_EMPTY:
        mbarrier.try_wait.parity.shared.b64 %p3, [empty], %r6;
        @!%p3 bra WAIT_EMPTY;
        mad.lo.u32 %r7, %r4, 100, %r1;
        st.shared.u32 [%r3], %r7;
        mbarrier.arrive.shared.b64 _, [full];
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p4, %r4, 20;
        @%p4 bra MAKE;
        bra END;
    TAKE:
        and.b32 %r6, %r4, 1;
    WAIT_FULL:
        mbarrier.test_wait.parity.shared.b64 %p3, [full], %r6;
        @!%p3 bra WAIT_FULL;
        xor.b32 %r8, %r2, 124;
        mov.u32 %r10, tile;
        add.u32 %r8, %r8, %r10;
        ld.shared.u32 %r7, [%r8];
        add.u32 %r5, %r5, %r7;
        mbarrier.arrive.shared.b64 _, [empty];
        add.u32 %r4, %r4, 1;
        setp.lt.u32 %p4, %r4, 20;
        @%p4 bra TAKE;
    END:
        st.global.u32 [%mine], %r5;",
    )
}

#[test]
fn warps_exchange_data_through_two_barriers() {
    let actual = words(&producer_consumer(), 64).unwrap();
    // The mirrored lane: 0 and 31, 1 and 30, and so on.
    let sum = |lane: u32| (0..20).map(|round| round * 100 + (31 - lane)).sum::<u32>();
    assert_eq!(actual[..32], [0; 32]);
    assert_eq!(actual[32..], (0..32).map(sum).collect::<Vec<_>>());
}

/// Thread 0 reinitializes a barrier as soon as it sees the end of its phase, as a solution of Mojo's puzzles
/// does. Other threads that test the barrier at that time must see the end of the phase too, whichever warp
/// thread 0 is in.
#[test]
fn barrier_can_be_reinitialized_after_its_phase() {
    for first in [0, 32, 96, 224] {
        let body = format!(
            "setp.ne.u32 %p1, %t, {first};
            @!%p1 mbarrier.init.shared.b64 [bar], 256;
            mov.u32 %r1, 0;
            bar.sync 0;
        ROUND:
            mbarrier.arrive.shared.b64 %d3, [bar];
        WAIT:
            mbarrier.test_wait.shared.b64 %p3, [bar], %d3;
            @!%p3 bra WAIT;
            @%p1 bra MADE;
            mbarrier.init.shared.b64 [bar], 256;
        MADE:
            bar.sync 0;
            add.u32 %r1, %r1, 1;
            setp.lt.u32 %p4, %r1, 3;
            @%p4 bra ROUND;
            st.global.u32 [%mine], %r1;"
        );
        assert_eq!(words(&kernel(&body), 256).unwrap(), [3; 256], "{first}");
    }
}

#[test]
fn checks_track_order_through_mbarriers() {
    let run = |ptx: &str| {
        let mut machine = Machine::checking(ptx, Checks::ALL);
        let out = machine.out::<u32>(64);
        machine.run("k", 1, 64, params![out]).findings
    };
    let correct = producer_consumer();
    let findings = run(&correct);
    assert!(findings.is_empty(), "{findings:#?}");
    // A read before the wait may see a word that is being written.
    let early_read = correct.replace("TAKE:", "TAKE: ld.shared.u32 %r11, [%r3];");
    assert!(!run(&early_read).is_empty());
    // So may a second write before the others have read.
    let late_write = correct.replace(
        "mbarrier.arrive.shared.b64 _, [full];",
        "mbarrier.arrive.shared.b64 _, [full]; st.shared.u32 [%r3], %r7;",
    );
    assert!(!run(&late_write).is_empty());
}

#[test]
fn async_copies_arrive_at_a_barrier() {
    for (qualifier, initial) in [(".noinc", 32), ("", 1)] {
        let wait = match qualifier {
            "" => "setp.eq.u32 %p2, %t, 0; @%p2 mbarrier.arrive.shared.b64 _, [bar];",
            _ => "",
        };
        let body = format!(
            "setp.ne.u32 %p1, %t, 0;
            @%p1 bra MADE;
            mbarrier.init.shared.b64 [bar], {initial};
        MADE:
            bar.sync 0;
            shl.b32 %r1, %t, 2;
            mov.u32 %r2, tile;
            add.u32 %r3, %r2, %r1;
            cp.async.ca.shared.global [%r3], [%mine], 4;
            cp.async.mbarrier.arrive{qualifier}.shared.b64 [bar];
            {wait}
        WAIT:
            mbarrier.test_wait.parity.shared.b64 %p3, [bar], 0;
            @!%p3 bra WAIT;
            xor.b32 %r1, %r1, 124;
            add.u32 %r3, %r2, %r1;
            ld.shared.u32 %r4, [%r3];
            bar.sync 0;
            st.global.u32 [%mine], %r4;"
        );
        let mut machine = Machine::checking(&kernel(&body), Checks::ALL);
        let out = machine.buffer(&(0..32u32).collect::<Vec<_>>());
        let report = machine.run("k", 1, 32, params![out]);
        assert!(report.findings.is_empty(), "{:#?}", report.findings);
        let actual = machine.read::<u32>(out, 32);
        assert!(actual.into_iter().eq((0..32).rev()), "{qualifier}");
    }
}

#[test]
fn invalid_and_unsupported_forms_are_rejected() {
    for (instruction, expected) in cases(
        r"
        mbarrier.arrive.shared.b32 %d3, [bar]; => is not simulated
        mbarrier.arrive.parity.shared.b64 %d3, [bar]; => is not simulated
        mbarrier.test_wait.expect_tx.shared.b64 %p1, [bar], %d3; => is not simulated
        mbarrier.arrive.shared.b64 [bar]; => wrong number of operands
        mbarrier.arrive.expect_tx.shared.b64 %d3, [bar]; => wrong number of operands
        mbarrier.test_wait.shared.b64 %p1, [bar], %r1; => 32 bits wide
        cp.async.mbarrier.arrive.twice.b64 [%d1]; => is not simulated
    ",
    ) {
        assert_load_error(&kernel(instruction), expected);
    }
    let old = kernel("mbarrier.try_wait.shared.b64 %p1, [bar], %d3;").replace("sm_90", "sm_80");
    assert_load_error(&old, "requires `.target sm_90`");
}

/// `stmatrix` stores the layout that `ldmatrix` loads, at the addresses that PTX's figures give.
#[test]
fn stmatrix_matches_ldmatrix() {
    let forms = ["", ".trans"].map(|transposition| [1, 2, 4].map(|count| (count, transposition)));
    for (count, transposition) in forms.into_iter().flatten() {
        for space in [".shared", ""] {
            let generic = match space {
                "" => "cvta.shared.u64 %d5, %d5;",
                _ => "",
            };
            let registers: Vec<String> = (0..count).map(|n| format!("%r{}", 4 + n)).collect();
            let loaded: Vec<String> = (0..count).map(|n| format!("%r{}", 8 + n)).collect();
            let mut values = String::new();
            let mut comparison = String::new();
            for n in 0..count {
                let (stored, loaded, bias) = (4 + n, 8 + n, (n << 24) + 65536);
                values += &format!("mad.lo.u32 %r{stored}, %t, 131074, {bias}; ");
                comparison +=
                    &format!("xor.b32 %r20, %r{stored}, %r{loaded}; or.b32 %r2, %r2, %r20;");
            }
            // Rows are 48 bytes apart.
            let body = format!(
                "{values}
                mov.u64 %d5, tile; mad.wide.u32 %d5, %t, 48, %d5; mov.u64 %d6, %d5; {generic}
                stmatrix.sync.aligned.m8n8.x{count}{transposition}{space}.b16 [%d5], {{{}}};
                bar.warp.sync -1;
                ldmatrix.sync.aligned.m8n8.x{count}{transposition}.shared.b16 {{{}}}, [%d6];
                mov.u32 %r2, 0; {comparison}
                ld.shared.u16 %r3, [tile+50];
                shl.b32 %r2, %r2, 16; or.b32 %r2, %r2, %r3;
                st.global.u32 [%mine], %r2;",
                registers.join(", "),
                loaded.join(", "),
            );
            let mut machine = Machine::profiling(&kernel(&body));
            let out = machine.out::<u32>(32);
            let report = machine.run("k", 1, 32, params![out]);
            // Row 1, column 1: the upper half of lane 4, or the upper half of lane 0's neighbour.
            let lane = 4u32;
            let element = (lane * 131_074 + 65536) >> 16;
            let context = format!("x{count}{transposition}{space}");
            assert_memory(&machine, out, &[element; 32], context);
            let stores = total(&report)[AccessClass::MatrixStore];
            assert_eq!((stores.requests, stores.wavefronts > 0), (1, true));
        }
    }
    for (address, threads, expected) in [
        ("tile", 31, "incomplete warp"),
        ("tile+8", 32, "misaligned"),
        ("%t+8192", 32, "address"),
    ] {
        let body = format!("stmatrix.sync.aligned.m8n8.x1.shared.b16 [{address}], {{%t}};");
        let fault = words(&kernel(&body), threads).expect_err(&body).to_string();
        assert!(fault.contains(expected), "{fault}");
    }
    let bytes = kernel("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [tile], {%t};");
    assert_load_error(&bytes, "is not simulated");
}
