//! The table of PTX instructions: the requirements, the implementation and the peculiarities of each. The
//! table alone decides how an instruction is lowered, guarded or refused.

mod control;
mod entry;
mod memory;
mod not_simulated;
mod registers;
mod warps;

#[cfg(test)]
mod tests;

pub use entry::{Entry, GuardKind, Lowering};

const PARTS: [&[Entry]; 5] = [
    registers::ENTRIES,
    memory::ENTRIES,
    control::ENTRIES,
    warps::ENTRIES,
    not_simulated::ENTRIES,
];

/// All instructions, sorted by name.
pub static TABLE: [Entry; COUNT] = sorted();

const COUNT: usize = {
    let (mut count, mut part) = (0, 0);
    while part < PARTS.len() {
        count += PARTS[part].len();
        part += 1;
    }
    count
};

/// Merges the parts by insertion sort at compile time. Duplicate names are a compile-time error.
const fn sorted() -> [Entry; COUNT] {
    let mut table = [PARTS[0][0]; COUNT];
    let (mut filled, mut part) = (0, 0);
    while part < PARTS.len() {
        let mut n = 0;
        while n < PARTS[part].len() {
            let entry = PARTS[part][n];
            let mut index = filled;
            while index > 0 && is_less(entry.name, table[index - 1].name) {
                table[index] = table[index - 1];
                index -= 1;
            }
            assert!(
                index == 0 || is_less(table[index - 1].name, entry.name),
                "two entries have the same name"
            );
            table[index] = entry;
            filled += 1;
            n += 1;
        }
        part += 1;
    }
    table
}

/// Returns `a < b`, because string comparison is not yet `const`.
const fn is_less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut n = 0;
    while n < a.len() && n < b.len() {
        if a[n] != b[n] {
            return a[n] < b[n];
        }
        n += 1;
    }
    a.len() < b.len()
}

/// Returns the entry of an instruction; `None` if the instruction does not exist.
pub fn find(mnemonic: &str, modifiers: &[&str]) -> Option<&'static Entry> {
    // A dot sorts before all characters of mnemonics, so names with modifiers directly follow the bare
    // mnemonic, and the longest match comes last.
    let first = TABLE.partition_point(|entry| entry.name < mnemonic);
    TABLE[first..]
        .iter()
        .take_while(|entry| entry.name.starts_with(mnemonic))
        .filter(|entry| entry.matches(mnemonic, modifiers))
        .last()
}

/// Returns the compute capability (times 10) that an unsupported instruction requires; `None` if the
/// instruction does not exist, or if other forms of it are simulated for any GPU.
pub fn required_capability(mnemonic: &str, modifiers: &[&str]) -> Option<u32> {
    find(mnemonic, modifiers)
        .filter(|entry| entry.refuses_older || matches!(entry.lowering, Lowering::NotSimulated))
        .map(|entry| entry.requirements_of(modifiers).sm)
}
