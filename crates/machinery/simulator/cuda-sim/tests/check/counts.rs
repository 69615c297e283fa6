//! Counters under checks, which must equal those without checks.

use crate::*;
use cuda_sim::isa::AccessClass;

#[test]
fn checks_do_not_change_counters() {
    let ptx = module_of(
        ".const .align 4 .b32 table[64]; .shared .align 4 .b32 tile[64];",
        "
        mov.u64 %d0, table;
        mad.wide.u32 %d1, %t, 4, %d0;
        ld.const.u32 %r1, [%d1];
        mov.u32 %r2, tile;
        mad.lo.u32 %r2, %t, 4, %r2;
        st.shared.u32 [%r2], %r1;
        bar.sync 0;
        ld.shared.u32 %r3, [%r2];
        setp.lt.u32 %p1, %t, 7;
        @%p1 add.u32 %r3, %r3, 1;
        st.global.u32 [%mine], %r3;
        ",
    );
    let count = |checks| {
        let mut machine = Machine::profiling(&ptx);
        machine.options.checks = checks;
        let out = machine.out::<u32>(64);
        let report = machine.run("k", 1, 64, params![out]);
        assert!(report.findings.is_empty(), "{:?}", report.findings);
        (total(&report), record(&report).time.clone())
    };
    let unchecked = count(Checks::NONE);
    assert_eq!(
        (
            unchecked.0[AccessClass::ConstantLoad].requests,
            unchecked.0[AccessClass::ConstantLoad].addresses
        ),
        (2, 64)
    );
    assert_eq!(count(Checks::ALL), unchecked);
}
