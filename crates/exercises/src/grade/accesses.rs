//! The traces of a run's accesses: accesses that a submission may not make, the source lines of data races between blocks,
//! and the thread that wrote a wrong element.

use std::collections::HashMap;

use chapter::lang::Lang;
use cuda_driver::{
    AccessClass, AccessKind, Direction, Finding, FindingKind, LaunchRecord, Memory, SourceLine,
    Traced, coordinates,
};

use super::checks::{format_access, format_thread};
use super::{Submission, results};
use crate::data::Tolerance;
use crate::host::{InputLocation, Output};

/// The maximum number of threads of a run whose accesses are traced.
pub const MAX_THREADS: u64 = 1 << 16;

/// Returns true if there is a race between blocks among the findings.
pub fn has_block_race(findings: &[Finding]) -> bool {
    findings
        .iter()
        .any(|finding| finding.kind == FindingKind::InterBlockRace)
}

/// An access to a word: the block, the line, and the direction.
struct Access<'a> {
    block: u64,
    source: &'a SourceLine,
    writes: bool,
}

/// Sets the lines of each kernel's races to those of the first racing word in the traces of its launches.
pub fn set_race_lines(
    findings: &mut [Finding],
    traces: &[(String, Vec<Traced>)],
    launches: &[LaunchRecord],
) {
    for finding in findings {
        if finding.kind != FindingKind::InterBlockRace {
            continue;
        }
        let race = traces
            .iter()
            .filter(|(kernel, _)| *kernel == finding.kernel)
            .find_map(|(kernel, trace)| Some((kernel, first_race(trace)?)));
        let (Some((kernel, (first, second))), Some(other)) = (race, &mut finding.other) else {
            continue;
        };
        let Some(launch) = launches.iter().find(|launch| launch.kernel == *kernel) else {
            continue;
        };
        finding.source = first.source.clone();
        finding.block = coordinates(first.block, launch.grid);
        other.source = second.source.clone();
        other.block = coordinates(second.block, launch.grid);
        other.write = second.writes;
    }
}

/// Finds the first word that one block writes and another accesses. Returns the writing access and the other
/// one.
fn first_race(trace: &[Traced]) -> Option<(Access<'_>, Access<'_>)> {
    let mut by_word: HashMap<u64, Vec<Access>> = HashMap::new();
    for access in trace
        .iter()
        .filter(|access| access.memory == Memory::Global)
    {
        let class = AccessClass::of(access.kind, access.memory)?;
        let direction = class.row().direction;
        // Atomic operations do not race with each other.
        if direction == Direction::Updates {
            continue;
        }
        let writes = direction == Direction::Writes;
        for (_, address) in access.lanes() {
            for word in address / 4..(address + access.bytes).div_ceil(4) {
                let accesses = by_word.entry(word).or_default();
                let entry = || Access {
                    block: access.block,
                    source: &access.source,
                    writes,
                };
                let races_with =
                    |other: &&Access| other.block != access.block && (other.writes || writes);
                if let Some(index) = accesses.iter().position(|other| races_with(&other)) {
                    let before = accesses.swap_remove(index);
                    return Some(match before.writes {
                        true => (before, entry()),
                        false => (entry(), before),
                    });
                }
                let is_recorded =
                    |other: &Access| other.block == access.block && other.writes == writes;
                if !accesses.iter().any(is_recorded) {
                    accesses.push(entry());
                }
            }
        }
    }
    None
}

/// An access of a lane, found in the traces of a launch.
pub struct FoundAccess<'a> {
    pub access: &'a Traced,
    pub lane: usize,
    pub launch: &'a LaunchRecord,
}

impl FoundAccess<'_> {
    /// Formats the access with its thread and source line.
    pub fn format(&self, submission: &Submission, lang: Lang) -> String {
        let FoundAccess {
            access,
            lane,
            launch,
        } = self;
        let block = coordinates(access.block, launch.grid);
        let thread = coordinates((access.warp * 32 + lane) as u64, launch.block);
        let thread = format_thread(&launch.kernel, block, Some(thread), lang);
        format_access(&thread, "", &access.source, submission, lang)
    }
}

/// Returns the first store to an input or atomic operation on one, and the input's name.
pub fn first_store_to<'a>(
    inputs: &'a [InputLocation],
    launches: &'a [LaunchRecord],
    traces: &'a [(String, Vec<Traced>)],
) -> Option<(&'a str, FoundAccess<'a>)> {
    with_launches(launches, traces).find_map(|(launch, trace)| {
        let mut stores = trace
            .iter()
            .filter(|access| access.memory == Memory::Global && writes(access));
        stores.find_map(|access| {
            access.lanes().find_map(|(lane, address)| {
                let mut inputs = inputs.iter();
                let input = inputs.find(|input| input.overlaps(address, access.bytes))?;
                let found = FoundAccess {
                    access,
                    lane,
                    launch,
                };
                Some((input.name.as_str(), found))
            })
        })
    })
}

/// Returns the first read-only load of a word that another thread stores in the same launch.
pub fn first_stale_read<'a>(
    inputs: &[InputLocation],
    launches: &'a [LaunchRecord],
    traces: &'a [(String, Vec<Traced>)],
) -> Option<FoundAccess<'a>> {
    find_access(launches, traces, |trace| stale_read(inputs, trace))
}

/// Finds the access of [`first_stale_read`] and its lane in a trace.
fn stale_read<'a>(inputs: &[InputLocation], trace: &'a [Traced]) -> Option<(&'a Traced, usize)> {
    let is_input = |address, bytes| inputs.iter().any(|input| input.overlaps(address, bytes));
    let words = |access: &Traced, address: u64| address / 4..(address + access.bytes).div_ceil(4);
    let thread = |access: &Traced, lane: usize| (access.block, access.warp, lane);
    let mut read: HashMap<u64, Vec<(&Traced, usize)>> = HashMap::new();
    for access in trace
        .iter()
        .filter(|access| access.kind == AccessKind::ReadOnlyLoad)
    {
        for (lane, address) in access.lanes() {
            if is_input(address, access.bytes) {
                continue;
            }
            for word in words(access, address) {
                // Two readers are enough: one of them is not the thread that writes.
                let readers = read.entry(word).or_default();
                if readers.len() < 2
                    && (readers.first())
                        .is_none_or(|&(other, at)| thread(other, at) != thread(access, lane))
                {
                    readers.push((access, lane));
                }
            }
        }
    }
    if read.is_empty() {
        return None;
    }
    let mut written = trace
        .iter()
        .filter(|access| access.memory == Memory::Global && writes(access));
    written.find_map(|store| {
        store.lanes().find_map(|(writer, address)| {
            words(store, address).find_map(|word| {
                let mut readers = read.get(&word)?.iter().copied();
                readers.find(|&(access, lane)| thread(access, lane) != thread(store, writer))
            })
        })
    })
}

/// Finds an access and its lane in the traces of the launches, by a function that searches one trace.
fn find_access<'a>(
    launches: &'a [LaunchRecord],
    traces: &'a [(String, Vec<Traced>)],
    find: impl Fn(&'a [Traced]) -> Option<(&'a Traced, usize)>,
) -> Option<FoundAccess<'a>> {
    with_launches(launches, traces).find_map(|(launch, trace)| {
        let (access, lane) = find(trace)?;
        Some(FoundAccess {
            access,
            lane,
            launch,
        })
    })
}

/// Pairs each trace with the first launch of its kernel.
fn with_launches<'a>(
    launches: &'a [LaunchRecord],
    traces: &'a [(String, Vec<Traced>)],
) -> impl Iterator<Item = (&'a LaunchRecord, &'a [Traced])> {
    traces.iter().filter_map(|(kernel, trace)| {
        let mut launches = launches.iter();
        let launch = launches.find(|launch| launch.kernel == *kernel)?;
        Some((launch, &trace[..]))
    })
}

/// Returns true if an access writes, atomically or not.
fn writes(access: &Traced) -> bool {
    AccessClass::of(access.kind, access.memory)
        .is_some_and(|class| class.row().direction != Direction::Reads)
}

/// Returns the first asynchronous copy of a tile that starts after the first use of the tile before: behind a barrier that
/// comes after that use, or in its own warp. An input has `tiles` tiles for each block, in order. A warp uses all tiles of
/// its block equally, through shared memory.
pub fn first_late_copy<'a>(
    input: &InputLocation,
    tiles: usize,
    launches: &'a [LaunchRecord],
    traces: &'a [(String, Vec<Traced>)],
) -> Option<FoundAccess<'a>> {
    let tiles = tiles as u64;
    with_launches(launches, traces).find_map(|(launch, trace)| {
        let blocks: u64 = launch
            .grid
            .iter()
            .map(|&blocks| u64::from(blocks))
            .product();
        let tile_bytes = (input.bytes / (blocks * tiles)).max(1);
        let uses = count_by_warp(trace.iter().filter(|access| uses_tile(access)));
        let mut used: HashMap<(u64, usize), u64> = HashMap::new();
        // The phase in which each tile of each block is first used.
        let mut first_phases: HashMap<(u64, u64), u32> = HashMap::new();
        trace.iter().find_map(|access| {
            let warp = (access.block, access.warp);
            if uses_tile(access) {
                let used = used.entry(warp).or_default();
                let tile = *used * tiles / uses[&warp];
                let phase = first_phases.entry((access.block, tile));
                let phase = phase.or_insert(access.phase);
                *phase = access.phase.min(*phase);
                *used += 1;
            }
            let is_copy = access.kind.is_async_copy() && access.memory == Memory::Global;
            let (lane, address) = access.lanes().next().filter(|_| is_copy)?;
            let tile = address.checked_sub(input.address)? / tile_bytes;
            let tile = tile.checked_sub(access.block * tiles)?;
            let before = tile.checked_sub(1).filter(|_| tile < tiles)?;
            let is_behind_barrier = first_phases
                .get(&(access.block, before))
                .is_some_and(|&phase| phase < access.phase);
            let is_after_own_use = used
                .get(&warp)
                .is_some_and(|used| used * tiles > before * uses[&warp]);
            (is_behind_barrier || is_after_own_use).then_some(FoundAccess {
                access,
                lane,
                launch,
            })
        })
    })
}

/// Returns the first use of a tile while less than half of a tile is being copied, by the warp if it copies or by its
/// block, if a warp has more such uses than those of the last of `tiles`. A warp uses all tiles of its block equally,
/// through shared memory.
pub fn first_use_without_copy<'a>(
    tiles: usize,
    launches: &'a [LaunchRecord],
    traces: &'a [(String, Vec<Traced>)],
) -> Option<FoundAccess<'a>> {
    find_access(launches, traces, |trace| {
        let access = use_without_copy(tiles as u64, trace)?;
        let (lane, _) = access.lanes().next()?;
        Some((access, lane))
    })
}

/// Finds the access of [`first_use_without_copy`] in a trace.
fn use_without_copy(tiles: u64, trace: &[Traced]) -> Option<&Traced> {
    let warp = |access: &Traced| (access.block, access.warp);
    let copies = trace
        .iter()
        .filter(|access| access.kind.is_async_copy() && access.memory == Memory::Global);
    // The bytes that each warp and each block copies.
    let mut by_warp: HashMap<(u64, usize), u64> = HashMap::new();
    let mut by_block: HashMap<u64, u64> = HashMap::new();
    for copy in copies {
        let bytes = u64::from(copy.mask.count_ones()) * copy.bytes;
        *by_warp.entry(warp(copy)).or_default() += bytes;
        *by_block.entry(copy.block).or_default() += bytes;
    }
    let uses = count_by_warp(trace.iter().filter(|access| uses_tile(access)));
    let is_half = |in_flight: u64, copied: Option<&u64>| {
        copied.is_none_or(|copied| 2 * in_flight * tiles >= *copied)
    };
    let is_idle = |access: &&Traced| {
        uses_tile(access)
            && !(is_half(access.bytes_in_flight, by_warp.get(&warp(access)))
                && is_half(access.phase_bytes_in_flight, by_block.get(&access.block)))
    };
    let idle = count_by_warp(trace.iter().filter(is_idle));
    let is_excessive = |access: &&Traced| idle[&warp(access)] * tiles > uses[&warp(access)];
    trace.iter().filter(is_idle).find(is_excessive)
}

/// Returns true if an access uses a tile in shared memory.
fn uses_tile(access: &Traced) -> bool {
    access.memory == Memory::Shared && access.kind.is_load()
}

/// Counts accesses by block and warp.
fn count_by_warp<'a>(accesses: impl Iterator<Item = &'a Traced>) -> HashMap<(u64, usize), u64> {
    let mut counts = HashMap::new();
    for access in accesses {
        *counts.entry((access.block, access.warp)).or_default() += 1;
    }
    counts
}

/// Describes the last write to the first wrong element of the outputs, using the traces of the launches.
/// Returns `None` if no element is wrong or its address is unknown.
pub fn describe_first_wrong(
    outputs: &[Output],
    tolerance: Tolerance,
    launches: &[LaunchRecord],
    traces: &[(String, Vec<Traced>)],
    submission: &Submission,
    lang: Lang,
) -> Option<String> {
    let (output, index) = outputs
        .iter()
        .find_map(|output| Some((output, results::first_wrong(output, tolerance)?)))?;
    let address = output.address? + 4 * index as u64;
    let location = results::format_index(&output.shape, index);
    let mut writers = Vec::new();
    for (launch, trace) in with_launches(launches, traces) {
        for access in trace {
            if access.memory != Memory::Global || !writes(access) {
                continue;
            }
            for (lane, from) in access.lanes() {
                if (from..from + access.bytes).contains(&address) {
                    writers.push(FoundAccess {
                        access,
                        lane,
                        launch,
                    });
                }
            }
        }
    }
    let Some(writer) = writers.last() else {
        return Some(localize!(
            lang,
            "No thread wrote {}: it has the value from before the launch.",
            "没有线程写入 {}：它仍是启动之前的值。";
            location
        ));
    };
    let head = match writers.len() {
        1 => localize!(lang, "{} was written by:", "写入 {} 的是："; location),
        count => localize!(
            lang,
            "{} was written {} times, the last time by:",
            "{} 被写入 {} 次，最后一次写入它的是：";
            location, count
        ),
    };
    Some(format!("{head}\n{}", writer.format(submission, lang)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grade::sample::load;
    use crate::host::Values;
    use crate::host::sample::{EXACT, output};

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
            bytes_in_flight: 0,
            phase: 0,
            phase_bytes_in_flight: 0,
        }
    }

    #[test]
    fn the_lines_of_a_racing_word_are_found() {
        let (read, write) = (AccessKind::Load, AccessKind::Store);
        let trace = [
            access(0, 7, write, 96),
            access(0, 9, read, 128),
            access(1, 7, write, 100),
            access(2, 11, write, 128),
        ];
        let (first, second) = first_race(&trace).expect("a race");
        assert_eq!(
            (first.source.line, first.block, first.writes),
            (11, 2, true)
        );
        assert_eq!(
            (second.source.line, second.block, second.writes),
            (9, 0, false)
        );
        assert!(first_race(&trace[..3]).is_none());
        let atomics = [0, 1].map(|block| access(block, 5, AccessKind::Atomic, 64));
        assert!(first_race(&atomics).is_none());
    }

    #[test]
    fn read_only_loads_of_other_blocks_results_are_found() {
        let store = access(0, 5, AccessKind::Store, 0x100);
        let load = |block, address| access(block, 9, AccessKind::ReadOnlyLoad, address);
        let input = InputLocation {
            name: "in".to_owned(),
            address: 0x100,
            bytes: 4,
            is_variable: false,
        };
        let line_of = |inputs: &[InputLocation], trace: &[Traced]| {
            stale_read(inputs, trace).map(|(access, lane)| (access.source.line, lane))
        };
        let stale = [store.clone(), load(1, 0x100)];
        assert_eq!(line_of(&[], &stale), Some((9, 3)));
        assert_eq!(line_of(&[input], &stale), None);
        assert_eq!(line_of(&[], &[store.clone(), load(0, 0x100)]), None);
        assert_eq!(line_of(&[], &[store, load(1, 0x104)]), None);
    }

    #[test]
    fn a_use_while_no_copy_is_in_flight_is_found() {
        let copy = access(0, 3, AccessKind::AsyncCopy, 0);
        let tile_use = |warp, line, in_flight| Traced {
            warp,
            memory: Memory::Shared,
            bytes_in_flight: if in_flight { 2 } else { 0 },
            phase_bytes_in_flight: 2,
            ..access(0, line, AccessKind::Load, 0)
        };
        let line_of =
            |trace: &[Traced]| use_without_copy(2, trace).map(|access| access.source.line);
        let [first, last] = [tile_use(0, 5, true), tile_use(0, 6, false)];
        assert_eq!(line_of(&[copy.clone(), first, last.clone()]), None);
        let idle = tile_use(0, 5, false);
        assert_eq!(
            line_of(&[copy.clone(), idle.clone(), last.clone()]),
            Some(5)
        );
        // The other warps copy nothing, but the block does.
        let others = [tile_use(1, 8, false), tile_use(1, 9, false)];
        assert_eq!(
            line_of(&[&others[..], std::slice::from_ref(&copy)].concat()),
            None
        );
        let alone = others.map(|tile_use| Traced {
            phase_bytes_in_flight: 0,
            ..tile_use
        });
        assert_eq!(line_of(&[&alone[..], &[copy]].concat()), Some(8));
        assert_eq!(line_of(&[idle, last]), None);
    }

    #[test]
    fn elements_without_a_writer_are_reported() {
        let output = Output {
            address: Some(0x1000),
            ..output(
                &[3],
                Values::Unsigned(vec![1, 7, 3]),
                Values::Unsigned(vec![1, 2, 3]),
            )
        };
        let submission = Submission {
            display_name: "a.cu".to_owned(),
            text: String::new(),
        };
        let message_for = |traces: &[(String, Vec<Traced>)]| {
            let outputs = std::slice::from_ref(&output);
            describe_first_wrong(outputs, EXACT, &[], traces, &submission, Lang::En)
        };
        let unwritten = "No thread wrote [1]: it has the value from before the launch.";
        assert_eq!(message_for(&[]).as_deref(), Some(unwritten));
        // A load is not a write.
        let traces = [("k".to_owned(), vec![load(0x1004)])];
        assert_eq!(message_for(&traces).as_deref(), Some(unwritten));
    }
}
