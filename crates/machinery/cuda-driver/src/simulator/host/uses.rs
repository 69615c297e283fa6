//! Which of the host's memory a piece of work uses.

use cuda_sim::check::Severity;
use cuda_sim::driver::{Driver, Memcpy};
use cuda_sim::memory::global::AllocationKind;

use super::{Source, Use, Uses, hash};
use crate::names;
use crate::simulator::work::{Kernel, Work};

/// Adds what `work` uses of page-locked and managed memory that was allocated here, and, of a graph's
/// copies, what they read of other memory.
pub fn find(driver: &Driver, work: &Work, in_graph: bool, found: &mut Uses) {
    match work {
        Work::Memcpy(copy) => of_copy(driver, copy, in_graph, found),
        Work::Memset(memset) => {
            let value = match memset.value {
                cuda_sim::driver::MemsetValue::U8(_) => 1,
                cuda_sim::driver::MemsetValue::U16(_) => 2,
                cuda_sim::driver::MemsetValue::U32(_) => 4,
            };
            let row = memset.width * value;
            let bytes = memset.pitch * memset.height.saturating_sub(1) + row;
            if shared(driver, memset.address).is_some() {
                found.guarded.push(Use {
                    start: memset.address,
                    end: memset.address + bytes,
                    reads: false,
                    severity: Severity::Error,
                    work: format!("a fill of {bytes} bytes writes"),
                });
            }
        }
        Work::Kernel(kernel) => of_kernel(driver, kernel, found),
        Work::Graph(body) => {
            for node in body.nodes.values().filter(|node| node.enabled) {
                find(driver, &node.work, true, found);
            }
        }
        Work::Empty
        | Work::Host(_)
        | Work::RecordEvent(_)
        | Work::WaitEvent(_)
        | Work::Allocate(_)
        | Work::Free(_) => {}
    }
}

/// The kind of the allocation that an address is in, if the host uses it too and it was allocated here.
fn shared(driver: &Driver, address: u64) -> Option<AllocationKind> {
    let kind = driver.allocation(address).ok()?.kind;
    matches!(kind, AllocationKind::Host | AllocationKind::Managed).then_some(kind)
}

fn of_copy(driver: &Driver, copy: &Memcpy, in_graph: bool, found: &mut Uses) {
    let Some([dst, src]) = driver.copy_spans(copy) else {
        return;
    };
    let bytes = copy.width * copy.height * copy.depth;
    for ((start, span), reads, does) in [(dst, false, "writes"), (src, true, "reads")] {
        if shared(driver, start).is_some() {
            found.guarded.push(Use {
                start,
                end: start + span,
                reads,
                severity: Severity::Error,
                work: format!("a copy of {bytes} bytes {does}"),
            });
        }
    }
    let (start, span) = src;
    if in_graph && span == bytes && driver.allocation(start).is_err() {
        found.sources.push(Source {
            start,
            bytes,
            // SAFETY: who launches a graph promises that what it copies can be read.
            hash: unsafe { hash(start, bytes) },
        });
    }
}

/// A kernel may use all of the memory whose address it is given.
fn of_kernel(driver: &Driver, kernel: &Kernel, found: &mut Uses) {
    let name = driver.function_name(kernel.function).unwrap_or_default();
    let words = kernel.arguments.chunks_exact(8);
    for word in words.filter_map(|word| Some(u64::from_ne_bytes(word.try_into().ok()?))) {
        let Some(kind) = shared(driver, word) else {
            continue;
        };
        let Ok(whole) = driver.allocation(word) else {
            continue;
        };
        found.guarded.push(Use {
            start: whole.base,
            end: whole.base + whole.size,
            reads: false,
            // Page-locked memory may be where kernel and program tell each other something.
            severity: match kind {
                AllocationKind::Managed => Severity::Error,
                _ => Severity::Warning,
            },
            work: format!("kernel {} may use", names::plain(name)),
        });
    }
}
