//! The host memory that an operation accesses.

use cuda_sim::check::Severity;
use cuda_sim::driver::{Driver, Memcpy};
use cuda_sim::memory::global::AllocationKind;

use super::{Source, Use, Uses, hash};
use crate::names;
use crate::simulator::work::{Kernel, Work};

/// Adds the page-locked and managed allocations that `op` accesses, and for a graph's copies the pageable
/// memory that
/// they read.
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

/// Returns the kind of the allocation at an address if the host can access it; `None` for memory not
/// allocated by the
/// driver.
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
            // SAFETY: the source of a graph's copy must be readable when the graph is launched.
            hash: unsafe { hash(start, bytes) },
        });
    }
}

/// Adds the allocations whose addresses are in a kernel's arguments: the kernel may access all of their memory.
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
            // Only a warning: kernel and host may communicate through page-locked memory.
            severity: match kind {
                AllocationKind::Managed => Severity::Error,
                _ => Severity::Warning,
            },
            work: format!("kernel {} may use", names::plain(name)),
        });
    }
}
