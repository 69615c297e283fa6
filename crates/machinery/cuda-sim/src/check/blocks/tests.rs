//! Uses by several blocks, in any order.

use super::*;

/// Uses of 1000 bytes, `(block, offset, bytes, writes)`: the words that are shared.
fn shared(uses: &[(u64, u64, u64, bool)]) -> Vec<(u64, u64, u64)> {
    let of = |uses: &mut dyn Iterator<Item = &(u64, u64, u64, bool)>| {
        let lines = UsedLines::new(1000);
        let mut lately = Lately::default();
        for &(block, offset, bytes, write) in uses {
            lines.touch(
                &mut lately,
                offset,
                bytes,
                Use {
                    block,
                    site: 0,
                    write,
                },
            );
        }
        lines.contested()
    };
    let found = of(&mut uses.iter());
    assert_eq!(
        found,
        of(&mut uses.iter().rev()),
        "the order makes a difference"
    );
    let found = found.into_iter();
    found
        .map(|one| (one.offset, one.writer, one.user))
        .collect()
}

#[test]
fn blocks_that_keep_to_their_own_share_nothing() {
    assert_eq!(
        shared(&[(0, 0, 1000, false), (1, 0, 1000, false), (2, 4, 8, false)]),
        []
    );
    let apart: Vec<_> = (0..250).map(|block| (block, block * 4, 4, true)).collect();
    assert_eq!(shared(&apart), []);
    let own: Vec<_> = (0..125)
        .flat_map(|block| [(block, block * 8, 8, true), (block, block * 8, 8, false)])
        .collect();
    assert_eq!(shared(&own), []);
}

#[test]
fn what_is_remembered_is_what_was_noted() {
    let (line, other) = (Line::default(), Line::default());
    let mut lately = Lately::default();
    let by = Use {
        block: 7,
        site: 3,
        write: false,
    };
    let mut again = |line, words, by| lately.again(line, words, by);
    assert!(!again(&line, 0b1100, by));
    assert!(again(&line, 0b1100, by) && again(&line, 0b0100, by));
    assert!(!again(&line, 0b0110, by), "a word more");
    assert!(again(&line, 0b1110, by));
    assert!(!again(&line, 0b1110, Use { site: 4, ..by }));
    assert!(again(&line, 0b1110, by) && again(&line, 0b1000, Use { site: 4, ..by }));
    let write = Use { write: true, ..by };
    assert!(!again(&line, 0b1110, write) && again(&line, 0b1110, write));
    assert!(!again(&other, 0b1110, by));
    assert!(!again(&line, 0b1110, Use { block: 8, ..by }));
    assert!(!again(&line, 0b1110, by), "forgotten");
}

#[test]
fn one_writes_and_another_uses() {
    assert_eq!(shared(&[(3, 16, 4, true), (7, 16, 8, false)]), [(16, 3, 7)]);
    assert_eq!(
        shared(&[(3, 16, 4, true), (3, 16, 4, false), (7, 16, 4, true)]),
        [(16, 3, 7)]
    );
    assert_eq!(
        shared(&[(5, 0, 256, true), (1, 124, 8, false), (2, 124, 4, false)]),
        [(124, 5, 1), (128, 5, 1)]
    );
    // Each writes its own word, and reads the next one's.
    let mut uses = Vec::new();
    for block in 0..40 {
        uses.push((block, block * 4, 4, true));
        uses.push((block, block * 4 + 4, 4, false));
    }
    let wanted: Vec<_> = (1..40).map(|block| (block * 4, block, block - 1)).collect();
    assert_eq!(shared(&uses), wanted);
}
