//! Source lines of data races between blocks. The race detector identifies the racing words but only some of
//! the lines; a run that traces every access has the exact lines.

use std::collections::HashMap;

use cuda_driver::{
    AccessClass, Direction, Finding, FindingKind, LaunchRecord, Memory, SourceLine, Traced,
    coordinates,
};

/// The maximum number of threads of a run whose accesses are traced.
pub const THREADS: u64 = 1 << 16;

/// Returns true if there is a race between blocks among the findings.
pub fn is_any(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.kind == FindingKind::BetweenBlocks)
}

/// An access to a word: the block, the line, and the direction.
struct User<'a> {
    block: u64,
    source: &'a SourceLine,
    writes: bool,
}

/// Sets the lines of each kernel's races to those of the first racing word in the traces of its launches.
pub fn give_lines(
    findings: &mut [Finding],
    traces: &[(String, Vec<Traced>)],
    launches: &[LaunchRecord],
) {
    for finding in findings {
        if finding.kind != FindingKind::BetweenBlocks {
            continue;
        }
        let found = traces
            .iter()
            .filter(|(kernel, _)| *kernel == finding.kernel)
            .find_map(|(kernel, trace)| Some((kernel, first(trace)?)));
        let (Some((kernel, (one, two))), Some(other)) = (found, &mut finding.other) else {
            continue;
        };
        let Some(launch) = launches.iter().find(|launch| launch.kernel == *kernel) else {
            continue;
        };
        finding.source = one.source.clone();
        finding.block = coordinates(one.block, launch.grid);
        other.source = two.source.clone();
        other.block = coordinates(two.block, launch.grid);
        other.write = two.writes;
    }
}

/// Finds the first word that one block writes and another accesses. Returns the writing access and the other
/// one.
fn first(trace: &[Traced]) -> Option<(User<'_>, User<'_>)> {
    let mut known: HashMap<u64, Vec<User>> = HashMap::new();
    for access in trace.iter().filter(|it| it.memory == Memory::Global) {
        let class = AccessClass::of(access.kind, access.memory)?;
        let direction = class.row().direction;
        // Atomic operations do not race with each other.
        if direction == Direction::Updates {
            continue;
        }
        let writes = direction == Direction::Writes;
        for (_, address) in access.lanes() {
            for word in address / 4..(address + access.bytes).div_ceil(4) {
                let users = known.entry(word).or_default();
                let user = || User {
                    block: access.block,
                    source: &access.source,
                    writes,
                };
                let meets = |it: &&User| it.block != access.block && (it.writes || writes);
                if let Some(place) = users.iter().position(|it| meets(&it)) {
                    let before = users.swap_remove(place);
                    return Some(match before.writes {
                        true => (before, user()),
                        false => (user(), before),
                    });
                }
                let alike = |it: &User| it.block == access.block && it.writes == writes;
                if !users.iter().any(alike) {
                    users.push(user());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use cuda_driver::AccessKind;

    use super::*;

    fn access(block: u64, line: u32, kind: AccessKind, address: u64) -> Traced {
        let mut addresses = [0; 32];
        addresses[3] = address;
        Traced {
            block,
            warp: 0,
            source: SourceLine {
                line,
                ..SourceLine::default()
            },
            kind,
            memory: Memory::Global,
            bytes: 4,
            mask: 1 << 3,
            addresses,
            units: 1,
            wavefronts: 1,
            conflicts: 0,
        }
    }

    #[test]
    fn the_lines_of_one_word_are_found() {
        let (read, write) = (AccessKind::Load, AccessKind::Store);
        let trace = [
            access(0, 7, write, 96),
            access(0, 9, read, 128),
            access(1, 7, write, 100),
            access(2, 11, write, 128),
        ];
        let (one, two) = first(&trace).expect("a word is contested");
        assert_eq!((one.source.line, one.block, one.writes), (11, 2, true));
        assert_eq!((two.source.line, two.block, two.writes), (9, 0, false));
        assert!(first(&trace[..3]).is_none());
        let atomics = [0, 1].map(|block| access(block, 5, AccessKind::Atomic, 64));
        assert!(first(&atomics).is_none());
    }
}
