//! The initial contents of uninitialized memory.

use crate::harness::*;
use cuda_sim::exec::Conditions;

/// Returns a kernel that outputs each thread's words of static shared, dynamic shared and local memory, and
/// then writes them.
fn kernel() -> String {
    module_of(
        ".shared .b32 tile[32]; .extern .shared .align 4 .b8 dynamic[]; .global .u32 counter;",
        ".local .b32 mine[3];
        mov.u32 %r1, %ctaid.x;
        mad.lo.u32 %r1, %r1, 32, %t;
        mad.wide.u32 %mine, %r1, 16, %out;
        mul.lo.u32 %r2, %t, 4;
        mov.u32 %r3, tile;
        add.u32 %r3, %r3, %r2;
        mov.u32 %r4, dynamic;
        add.u32 %r4, %r4, %r2;
        ld.shared.u32 %r5, [%r3];
        ld.shared.u32 %r6, [%r4];
        ld.local.u32 %r7, [mine+4];
        ld.global.u32 %r8, [counter];
        st.global.u32 [%mine], %r5;
        st.global.u32 [%mine+4], %r6;
        st.global.u32 [%mine+8], %r7;
        st.global.u32 [%mine+12], %r8;
        st.shared.u32 [%r3], 1;
        st.shared.u32 [%r4], 1;
        st.local.u32 [mine+4], 1;",
    )
}

#[test]
fn shared_and_local_memory_start_with_the_poison_word() {
    for poison in [None, Some(0), Some(0x7fc0_1234), Some(u32::MAX)] {
        let mut machine = Machine::new(&kernel());
        machine.use_threads(1);
        machine.options.conditions.poison = poison;
        let out = machine.out::<u32>(4 * 32 * 20);
        let launch = Launch::new("k", 20, 32, params![out]);
        machine.launch(&launch.shared(128)).unwrap();
        let word = poison.unwrap_or(0);
        for (thread, actual) in machine.read::<u32>(out, 4 * 32 * 20).chunks(4).enumerate() {
            // Module variables are initialized to zero.
            assert_eq!(
                actual,
                [word, word, word, 0],
                "{poison:x?}, thread {thread}"
            );
        }
    }
}

#[test]
fn poison_does_not_depend_on_the_schedule() {
    let mut machine = Machine::new(&kernel());
    machine.options.conditions = Conditions {
        shuffle: Some(1),
        poison: Some(7),
        sample_seed: None,
    };
    let out = machine.out::<u32>(4 * 32 * 5);
    let launch = Launch::new("k", 5, 32, params![out]);
    machine.launch(&launch.shared(128)).unwrap();
    let words = machine.read::<u32>(out, 4 * 32 * 5);
    assert!(words.chunks(4).all(|words| words == [7, 7, 7, 0]));
}
