//! Tests of accesses by several blocks, in any order.

use super::*;

/// Records accesses to 1000 bytes, `(block, offset, bytes, writes)`, forwards and backwards, and returns the
/// racy words as `(offset, writer, user)`.
fn racy_words_in_any_order(uses: &[(u64, u64, u64, bool)]) -> Vec<(u64, u64, u64)> {
    racy_words(4, uses)
}

/// [`racy_words_in_any_order`] with words of `word` bytes.
fn racy_words(word: u32, uses: &[(u64, u64, u64, bool)]) -> Vec<(u64, u64, u64)> {
    let run_accesses = |uses: &mut dyn Iterator<Item = &(u64, u64, u64, bool)>| {
        let lines = AllocationShadow::new(1000, word);
        let mut recent_accesses = RecentAccesses::new(true);
        for &(block, offset, bytes, write) in uses {
            lines.record(
                &mut recent_accesses,
                offset,
                bytes,
                BlockAccess {
                    block,
                    site: 0,
                    write,
                },
                |_, _| [block as u32; 32],
            );
        }
        lines.racy_words()
    };
    let actual = run_accesses(&mut uses.iter());
    assert_eq!(
        actual,
        run_accesses(&mut uses.iter().rev()),
        "the order makes a difference"
    );
    let actual = actual.into_iter();
    actual
        .map(|word| (word.offset, word.writer, word.user))
        .collect()
}

#[test]
fn disjoint_accesses_and_shared_reads_are_no_race() {
    assert_eq!(
        racy_words_in_any_order(&[(0, 0, 1000, false), (1, 0, 1000, false), (2, 4, 8, false)]),
        []
    );
    let disjoint: Vec<_> = (0..250).map(|block| (block, block * 4, 4, true)).collect();
    assert_eq!(racy_words_in_any_order(&disjoint), []);
    let private: Vec<_> = (0..125)
        .flat_map(|block| [(block, block * 8, 8, true), (block, block * 8, 8, false)])
        .collect();
    assert_eq!(racy_words_in_any_order(&private), []);
}

#[test]
fn repeated_accesses_hit_the_cache() {
    let (line, other) = (Line::default(), Line::default());
    let mut recent_accesses = RecentAccesses::new(true);
    let by = BlockAccess {
        block: 7,
        site: 3,
        write: false,
    };
    let mut hit = |line, words, by| recent_accesses.contains_or_insert(line, words, by);
    assert!(!hit(&line, 0b1100, by));
    assert!(hit(&line, 0b1100, by) && hit(&line, 0b0100, by));
    assert!(!hit(&line, 0b0110, by), "a word more");
    assert!(hit(&line, 0b1110, by));
    assert!(!hit(&line, 0b1110, BlockAccess { site: 4, ..by }));
    assert!(hit(&line, 0b1110, by) && hit(&line, 0b1000, BlockAccess { site: 4, ..by }));
    let write = BlockAccess { write: true, ..by };
    assert!(!hit(&line, 0b1110, write) && hit(&line, 0b1110, write));
    assert!(!hit(&other, 0b1110, by));
    assert!(!hit(&line, 0b1110, BlockAccess { block: 8, ..by }));
    assert!(!hit(&line, 0b1110, by), "forgotten");
}

#[test]
fn a_write_and_another_blocks_access_are_a_race() {
    assert_eq!(
        racy_words_in_any_order(&[(3, 16, 4, true), (7, 16, 8, false)]),
        [(16, 3, 7)]
    );
    assert_eq!(
        racy_words_in_any_order(&[(3, 16, 4, true), (3, 16, 4, false), (7, 16, 4, true)]),
        [(16, 3, 7)]
    );
    assert_eq!(
        racy_words_in_any_order(&[(5, 0, 256, true), (1, 124, 8, false), (2, 124, 4, false)]),
        [(124, 5, 1), (128, 5, 1)]
    );
    // Each block writes its own word and reads the next block's.
    let mut uses = Vec::new();
    for block in 0..40 {
        uses.push((block, block * 4, 4, true));
        uses.push((block, block * 4 + 4, 4, false));
    }
    let expected: Vec<_> = (1..40).map(|block| (block * 4, block, block - 1)).collect();
    assert_eq!(racy_words_in_any_order(&uses), expected);
}

#[test]
fn neighbouring_bytes_are_no_race_in_programs_with_narrow_accesses() {
    let halves = [(0, 0, 257, true), (1, 257, 743, true)];
    assert_eq!(racy_words(1, &halves), []);
    assert_eq!(racy_words(4, &halves), [(256, 0, 1)]);
    assert_eq!(
        racy_words(1, &[(0, 0, 2, true), (1, 1, 4, false)]),
        [(1, 0, 1)]
    );
}

#[test]
fn blocks_that_write_the_same_value_are_told_apart() {
    let mut recent_accesses = RecentAccesses::new(true);
    let lines = AllocationShadow::new(1000, 4);
    for block in 0..40 {
        let by = BlockAccess {
            block,
            site: 0,
            write: true,
        };
        // Word 3 gets different values, but not from the first block on.
        let mut values = [7; 32];
        values[3] = block as u32 / 20;
        lines.record(&mut recent_accesses, 0, 16, by, |_, _| values);
    }
    let words = lines.racy_words();
    let one_value: Vec<bool> = words.iter().map(|word| word.one_value).collect();
    assert_eq!(one_value, [true, true, true, false]);
    assert!(words.iter().all(|word| !word.is_read));
}
