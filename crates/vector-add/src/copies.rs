//! The kinds of copies, those of `cudaMemcpyKind` in the note and those with pinned memory; and the bandwidth of a copy or a
//! kernel.

use anyhow::{Context as _, Result};
use chapter::lang::Lang;
use chapter::report::Details;
use chapter::text::or_dash;
use chapter::{Chapter, Entry};
use common::error::check;
use common::timing::{self, Events, Timing};
use common::verify::{POISON, compare, within_ulps};
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::Stream;
use cust::sys;
use serde::Serialize;

use crate::flags::Flags;
use crate::{free, vectors};

/// The chapter's columns: bytes moved and bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Bytes that a copy moves, or that a kernel reads and writes.
    bytes: u64,
    /// Bytes divided by the median time, in 10⁹ bytes per second; `None` if the time is 0.
    gb_per_s: Option<f64>,
}

impl Bandwidth {
    /// Creates the columns for `bytes` per copy or launch.
    pub fn new(bytes: u64, timing: &Timing) -> Self {
        Bandwidth {
            bytes,
            gb_per_s: timing.giga_per_second(bytes as f64),
        }
    }
}

impl Details for Bandwidth {
    fn columns(&self, lang: Lang) -> &'static [&'static str] {
        lang.pick(&["bytes", "GB/s"], &["字节数", "GB/s"])
    }

    fn cells(&self) -> Vec<String> {
        let rate = self.gb_per_s.map(|rate| format!("{rate:.1}"));
        vec![self.bytes.to_string(), or_dash(rate)]
    }
}

/// A kind of copy.
pub struct Kind {
    /// The name in tables.
    pub name: &'static str,
    to: Target,
    /// Copies once. Copies with pinned memory are asynchronous: they are enqueued in the stream.
    ///
    /// # Safety
    ///
    /// With pinned memory, neither buffer may be used or freed before the stream is done.
    copy: unsafe fn(&mut Copies, &Stream) -> Result<()>,
}

/// The memory that a copy writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Pageable,
    Pinned,
    Device,
}

/// All kinds of copies; the first is the baseline.
pub const KINDS: &[Kind] = &[
    // `cudaMemcpyHostToDevice`
    Kind {
        name: "host to device",
        to: Target::Device,
        copy: |ends, _| Ok(ends.device_to.copy_from(ends.from)?),
    },
    // `cudaMemcpyDeviceToHost`
    Kind {
        name: "device to host",
        to: Target::Pageable,
        copy: |ends, _| Ok(ends.device_from.copy_to(&mut ends.to)?),
    },
    // `cudaMemcpyDeviceToDevice`
    Kind {
        name: "device to device",
        to: Target::Device,
        copy: |ends, _| Ok(ends.device_to.copy_from(&ends.device_from)?),
    },
    // `cudaMemcpyHostToHost`: for the driver, a default copy between two host addresses.
    Kind {
        name: "host to host",
        to: Target::Pageable,
        // SAFETY: both vectors have `bytes` bytes and are different allocations.
        copy: |ends, _| unsafe { copy_by_address(ends.host_to(), ends.host_from(), ends.bytes()) },
    },
    // `cudaMemcpyDefault` from a host address to one of the device.
    Kind {
        name: "host to device, default",
        to: Target::Device,
        // SAFETY: `device_to` and `from` have `bytes` bytes and are different allocations.
        copy: |ends, _| unsafe {
            let to = ends.device_to.as_device_ptr().as_raw();
            copy_by_address(to, ends.host_from(), ends.bytes())
        },
    },
    // `cudaMemcpyDefault` from an address of the device to one of the host.
    Kind {
        name: "device to host, default",
        to: Target::Pageable,
        // SAFETY: `to` and `device_from` have `bytes` bytes and are different allocations.
        copy: |ends, _| unsafe {
            let from = ends.device_from.as_device_ptr().as_raw();
            copy_by_address(ends.host_to(), from, ends.bytes())
        },
    },
    // From pinned memory, in a stream.
    Kind {
        name: "host to device, pinned",
        to: Target::Device,
        // SAFETY: the caller keeps both buffers untouched until the stream is done.
        copy: |ends, stream| unsafe {
            Ok(ends.device_to.async_copy_from(&ends.pinned_from, stream)?)
        },
    },
    // To pinned memory, in a stream.
    Kind {
        name: "device to host, pinned",
        to: Target::Pinned,
        // SAFETY: the caller keeps both buffers untouched until the stream is done.
        copy: |ends, stream| unsafe {
            Ok(ends
                .device_from
                .async_copy_to(&mut ends.pinned_to, stream)?)
        },
    },
];

/// Copies the same bytes with every kind of copy, after the note's kernel. Does nothing if rungs were selected.
///
/// # Errors
///
/// Fails if CUDA reports an error.
pub fn run(flags: &Flags, chapter: &Chapter, vector: &[f32]) -> Result<()> {
    if flags.variants().has_rungs() {
        return Ok(());
    }
    let events = timing::events(&chapter.gpu.stream)?;
    let mut copies = Copies::new(vector)?;
    for kind in KINDS {
        copies.poison(kind)?;
        let label = format!("the copy {}", kind.name);
        let measured = chapter.sample(&label, |times| copies.time(kind, times, &events))?;
        let check = compare(&copies.copied(kind)?, vector, within_ulps(0));
        let bytes = vectors::bytes(flags.count);
        let entry = Entry::new(kind.name, measured, check.verdict(vectors::element_name));
        chapter.add(entry.with(|measured| Bandwidth::new(bytes, &measured.timing)));
    }
    copies.free()
}

/// A source and a destination vector in each kind of memory.
///
/// A `Vec` is pageable: the operating system may move it to disk, so the GPU cannot read it directly, and the
/// driver copies it piece by piece through its own pinned memory. A `LockedBuffer` is pinned (page-locked):
/// its pages stay in place, so the GPU copies it without the driver's help and the host need not wait.
pub struct Copies<'a> {
    from: &'a [f32],
    to: Vec<f32>,
    pinned_from: LockedBuffer<f32>,
    pinned_to: LockedBuffer<f32>,
    device_from: DeviceBuffer<f32>,
    device_to: DeviceBuffer<f32>,
}

impl<'a> Copies<'a> {
    /// Allocates the other five vectors and copies `vector` to all sources.
    ///
    /// # Errors
    ///
    /// Fails if an allocation fails.
    pub fn new(vector: &'a [f32]) -> Result<Self> {
        let pinned = |vector: &[f32]| {
            LockedBuffer::from_slice(vector).context("cannot allocate pinned memory")
        };
        let device = |vector: &[f32]| {
            DeviceBuffer::from_slice(vector).context("cannot allocate memory on the GPU")
        };
        Ok(Copies {
            from: vector,
            to: vector.to_vec(),
            pinned_from: pinned(vector)?,
            pinned_to: pinned(vector)?,
            device_from: device(vector)?,
            device_to: device(vector)?,
        })
    }

    /// Fills the destination of `kind` with [`POISON`], so that missing elements are detected.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn poison(&mut self, kind: &Kind) -> Result<()> {
        let poison = f32::from_ne_bytes([POISON; size_of::<f32>()]);
        match kind.to {
            Target::Pageable => self.to.fill(poison),
            Target::Pinned => self.pinned_to.fill(poison),
            Target::Device => self.device_to.set_8(POISON)?,
        }
        Ok(())
    }

    /// Copies `times` times between two events and returns the milliseconds of all copies.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn time(&mut self, kind: &Kind, times: u32, events: &Events) -> Result<f32> {
        events.time(|| {
            for _ in 0..times {
                // SAFETY: `events.time` synchronizes its stream before it returns, also after an error, so no
                // buffer is used or freed earlier.
                unsafe { (kind.copy)(self, events.stream()) }?;
            }
            Ok(())
        })
    }

    /// Returns the destination of `kind`, read back if it is on the GPU.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn copied(&self, kind: &Kind) -> Result<Vec<f32>> {
        match kind.to {
            Target::Pageable => Ok(self.to.clone()),
            Target::Pinned => Ok(self.pinned_to.to_vec()),
            Target::Device => Ok(self.device_to.as_host_vec()?),
        }
    }

    /// Frees all memory that CUDA allocated.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn free(self) -> Result<()> {
        free::pinned(self.pinned_from, "the vector to copy from")?;
        free::pinned(self.pinned_to, "the vector to copy to")?;
        free::device(self.device_from, "the vector to copy from")?;
        free::device(self.device_to, "the vector to copy to")
    }

    /// Returns the address of the source in pageable memory.
    fn host_from(&self) -> u64 {
        self.from.as_ptr() as u64
    }

    /// Returns the address of the destination in pageable memory.
    fn host_to(&mut self) -> u64 {
        self.to.as_mut_ptr() as u64
    }

    /// Returns the vector's size in bytes.
    fn bytes(&self) -> usize {
        size_of_val(self.from)
    }
}

/// Copies like `cudaMemcpyDefault`: the driver infers from an address whether it belongs to the host or the
/// device, because with unified virtual addressing all memories share one address space. cust does not wrap
/// this copy.
///
/// # Safety
///
/// `bytes` bytes must be readable at `from` and writable at `to`, and must not overlap.
unsafe fn copy_by_address(to: u64, from: u64, bytes: usize) -> Result<()> {
    // SAFETY: the caller guarantees that both ranges are valid and do not overlap.
    check(unsafe { sys::cuMemcpy(to, from, bytes) }).context("cuMemcpy failed")
}

#[cfg(test)]
mod tests {
    use common::Gpu;

    use super::*;

    fn bandwidth(bytes: u64, median_ms: f64) -> Bandwidth {
        Bandwidth::new(bytes, &Timing::once(median_ms))
    }

    #[test]
    fn a_gigabyte_is_a_thousand_million_bytes() {
        let half_a_second = bandwidth(1_000_000_000, 500.0);
        assert_eq!(half_a_second.gb_per_s, Some(2.0));
        assert_eq!(half_a_second.cells(), ["1000000000", "2.0"]);
    }

    #[test]
    fn no_time_gives_no_bandwidth() {
        assert_eq!(bandwidth(64, 0.0).gb_per_s, None);
        assert_eq!(bandwidth(64, 0.0).cells(), ["64", "–"]);
    }

    /// Every kind overwrites the poison with the vector, for any number of copies, and writes to the memory
    /// in its name.
    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn every_kind() {
        let gpu = Gpu::open().unwrap();
        let events = timing::events(&gpu.stream).unwrap();
        let vector = [1.5, -2.0, 3.25];
        let mut copies = Copies::new(&vector).unwrap();
        for kind in KINDS {
            copies.poison(kind).unwrap();
            let poisoned = copies.copied(kind).unwrap();
            assert!(
                poisoned.iter().all(|element| element.is_nan()),
                "{}",
                kind.name
            );
            for times in [1, 3] {
                copies.time(kind, times, &events).unwrap();
                assert_eq!(copies.copied(kind).unwrap(), vector, "{}", kind.name);
            }
            let to_device = kind.name.contains("to device");
            assert_eq!(kind.to == Target::Device, to_device, "{}", kind.name);
        }
        copies.free().unwrap();
    }

    #[test]
    fn every_kind_copies() {
        let folder = tempfile::tempdir().unwrap();
        chapter_test::run_child("copies::tests::every_kind", folder.path());
    }

    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn a_null_address() {
        let _gpu = Gpu::open().unwrap();
        let mut to = 0.0_f32;
        // SAFETY: the driver rejects address 0 before it copies anything.
        let copied = unsafe { copy_by_address(&raw mut to as u64, 0, size_of::<f32>()) };
        println!("{}", common::error::describe(&copied.unwrap_err()));
    }

    #[test]
    fn a_copy_that_fails_has_the_drivers_error() {
        let folder = tempfile::tempdir().unwrap();
        let name = "copies::tests::a_null_address";
        let (message, _) = chapter_test::run_child(name, folder.path());
        assert!(
            message.contains("cuMemcpy failed: CUDA_ERROR_INVALID_VALUE"),
            "{message}"
        );
    }
}
