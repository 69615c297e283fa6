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
            let local = local_word(word, thread);
            // Module variables are initialized to zero.
            assert_eq!(
                actual,
                [word, word, local, 0],
                "{poison:x?}, thread {thread}"
            );
        }
    }
}

/// Returns the initial word of a thread's local memory, in blocks of one warp.
fn local_word(poison: u32, thread: usize) -> u32 {
    let (block, lane) = (thread / 32, thread % 32);
    match (poison, (block + lane) % 3) {
        (0, _) | (_, 0) => poison,
        (_, 1) => poison ^ 0x8201_FFFF,
        _ => poison ^ 0x0180_5554,
    }
}

/// Otherwise a maximum that starts with uninitialized memory may be correct by chance in all threads.
#[test]
fn three_threads_find_floats_of_all_kinds_in_local_memory() {
    for poison in [0x7FC0_0001, 0xFE00_1234, 0x7E00_0001] {
        let floats = [0, 1, 2].map(|thread| f32::from_bits(local_word(poison, thread)));
        assert!(floats.iter().any(|float| float.is_nan()), "{floats:?}");
        assert!(floats.iter().any(|float| *float < -1e36), "{floats:?}");
        assert!(floats.iter().any(|float| *float > 1e36), "{floats:?}");
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
    for (thread, words) in words.chunks(4).enumerate() {
        assert_eq!(words, [7, 7, local_word(7, thread), 0], "thread {thread}");
    }
}
