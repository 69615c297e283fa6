//! The complete addition as a program needs it: both vectors to the GPU, the kernel, the sum back;
//! and the overlap of these steps.
//!
//! A GPU has a copy engine for each direction and one engine for kernels. In a single stream they
//! run one after the other. If the vectors are split into chunks, there can be one stream per
//! direction: the sum of one chunk is copied back while the operands of the next chunk are copied
//! to the GPU, so that the link is busy in both directions.

use std::iter;
use std::ops::Range;
use std::ptr;

use anyhow::{Context as _, Result};
use common::error::check;
use common::timing::Events;
use common::verify::POISON;
use cust::event::{Event, EventFlags};
use cust::function::Function;
use cust::launch;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamWaitEventFlags};
use cust::sys::{self, CUmemorytype};

use crate::free;

/// Reciprocal of a chunk's share of the remaining elements. Chunks get smaller so that the last
/// sum, whose copy overlaps with nothing, is short.
const PART: usize = 4;

/// Minimum number of elements per chunk except the last: starting a copy takes some microseconds,
/// in which the link could move a tenth of this chunk.
const MIN_CHUNK: usize = 1 << 18;

/// Number of operands: the rows `a` and `b`.
const ROWS: usize = 2;

/// The kind of host memory of the vectors, and the way in which they are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyMode {
    /// Pageable: in a `Vec`, which the driver copies through its own pinned memory.
    Pageable,
    /// Pinned: the GPU copies it directly; all steps are serialized.
    Pinned,
    /// Pinned and in chunks, with one stream per direction.
    Overlapped,
}

/// The vectors in pageable memory, in three allocations.
struct Pageable<'a> {
    a: &'a [f32],
    b: &'a [f32],
    c: Vec<f32>,
}

/// The operands and the sum in one kind of memory. The operands are rows of one allocation, so that
/// one two-dimensional copy moves the same part of both.
struct Vectors<B> {
    operands: B,
    sum: B,
}

/// The vectors in each kind of memory, and the kernel that adds them.
pub struct RoundTrip<'a> {
    add: Function<'a>,
    block: u32,
    max_pitch: usize,
    pageable: Pageable<'a>,
    pinned: Vectors<LockedBuffer<f32>>,
    device: Vectors<DeviceBuffer<f32>>,
    streams: [&'a Stream; 2],
}

impl<'a> RoundTrip<'a> {
    /// Allocates seven vectors in addition to `a` and `b` and copies these to the pinned source.
    /// `add` is the note's kernel, launched with blocks of `block` threads; the device must accept
    /// the grid for the whole of `a`. The pitch of copies is at most `max_pitch` bytes. The first
    /// stream is the timed one.
    ///
    /// # Errors
    ///
    /// Fails if an allocation fails.
    pub fn new(
        add: Function<'a>,
        block: u32,
        max_pitch: usize,
        streams: [&'a Stream; 2],
        a: &'a [f32],
        b: &'a [f32],
    ) -> Result<Self> {
        let count = a.len();
        let pinned = |len| LockedBuffer::new(&0.0, len).context("cannot allocate pinned memory");
        let device = |len| {
            // SAFETY: each buffer is written before it is read.
            unsafe { DeviceBuffer::uninitialized(len) }.context("cannot allocate memory on the GPU")
        };
        let mut operands: LockedBuffer<f32> = pinned(ROWS * count)?;
        operands[..count].copy_from_slice(a);
        operands[count..].copy_from_slice(b);
        Ok(RoundTrip {
            add,
            block,
            max_pitch,
            pinned: Vectors {
                operands,
                sum: pinned(count)?,
            },
            device: Vectors {
                operands: device(ROWS * count)?,
                sum: device(count)?,
            },
            pageable: Pageable {
                c: vec![0.0; count],
                a,
                b,
            },
            streams,
        })
    }

    /// Fills the sums with [`POISON`] on the host and on the GPU, so that elements that were not
    /// added or not copied are detected.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn poison(&mut self) -> Result<()> {
        let poison = f32::from_ne_bytes([POISON; size_of::<f32>()]);
        self.pageable.c.fill(poison);
        self.pinned.sum.fill(poison);
        Ok(self.device.sum.set_8(POISON)?)
    }

    /// Returns the sum that was copied back.
    pub fn sum(&self, mode: CopyMode) -> &[f32] {
        match mode {
            CopyMode::Pageable => &self.pageable.c,
            CopyMode::Pinned | CopyMode::Overlapped => &self.pinned.sum,
        }
    }

    /// Runs the complete addition `times` times between two events and returns the milliseconds of
    /// all runs.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error. Both streams are idle on return in any case.
    pub fn time(&mut self, mode: CopyMode, times: u32, events: &Events) -> Result<f32> {
        let count = self.pageable.a.len();
        // ANCHOR: ways
        self.timed(times, events, |trip| {
            let [to_device, to_host] = trip.streams;
            if mode != CopyMode::Overlapped {
                // SAFETY: `timed` synchronizes both streams before it returns.
                return unsafe {
                    trip.copy_operands(mode, 0..count, to_device)?;
                    trip.add_and_copy_sum(mode, 0..count, to_device)
                };
            }
            for part in chunks(count) {
                // SAFETY: `timed` synchronizes both streams, and the parts are disjoint.
                unsafe {
                    trip.copy_operands(mode, part.clone(), to_device)?;
                    follow(to_host, to_device)?;
                    trip.add_and_copy_sum(mode, part, to_host)?;
                }
            }
            follow(to_device, to_host)
        })
        // ANCHOR_END: ways
    }

    /// Times the limit of the link: the same bytes in both directions at once, without
    /// dependencies.
    ///
    /// # Errors
    ///
    /// Fails where [`RoundTrip::time`] does.
    pub fn time_link(&mut self, times: u32, events: &Events) -> Result<f32> {
        self.timed(times, events, |trip| {
            let [to_device, to_host] = trip.streams;
            follow(to_host, to_device)?;
            let (pinned, device) = (&mut trip.pinned, &mut trip.device);
            // SAFETY: `timed` synchronizes both streams, and no buffer takes part in both copies.
            unsafe {
                device
                    .operands
                    .async_copy_from(&pinned.operands, to_device)?;
                device.sum.async_copy_to(&mut pinned.sum, to_host)?;
            }
            follow(to_device, to_host)
        })
    }

    /// Frees all memory that CUDA allocated.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn free(self) -> Result<()> {
        free::pinned(self.pinned.operands, "a and b")?;
        free::pinned(self.pinned.sum, "c")?;
        free::device(self.device.operands, "a and b")?;
        free::device(self.device.sum, "c")
    }

    /// Times `work` and synchronizes the second stream too, also after an error.
    fn timed(
        &mut self,
        times: u32,
        events: &Events,
        mut work: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<f32> {
        let timed = events.time(|| (0..times).try_for_each(|_| work(self)));
        self.streams[1].synchronize()?;
        timed
    }

    /// Enqueues the addition of a part of both operands and the copy of the sum's part in `stream`.
    ///
    /// # Safety
    ///
    /// The vectors must not be used or freed before `stream` is done.
    unsafe fn add_and_copy_sum(
        &mut self,
        mode: CopyMode,
        part: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        let a = self.device.operands.index(part.clone());
        let b = self.device.operands.index(self.second_row(&part));
        let sum = self.device.sum.index(part.clone());
        let add = &self.add;
        // The device accepts the grid for the whole vector, which is at least as large.
        let blocks = part.len().div_ceil(self.block as usize) as u32;
        let to_host = match mode {
            CopyMode::Pageable => &mut self.pageable.c[part.clone()],
            CopyMode::Pinned | CopyMode::Overlapped => &mut self.pinned.sum[part.clone()],
        };
        // SAFETY: the caller keeps the vectors untouched until the stream is done. The arguments
        // match the parameters of `add` in the .cu file, and all three have as many elements as the
        // part.
        unsafe {
            launch!(add<<<blocks, self.block, 0, stream>>>(
                a.as_device_ptr(), b.as_device_ptr(), sum.as_device_ptr(), part.len() as u64
            ))?;
            sum.async_copy_to(to_host, stream)?;
        }
        Ok(())
    }

    /// Enqueues the copies of a part of both operands to the GPU: two copies as in the note, or for
    /// chunks a single copy, because starting a copy takes time.
    ///
    /// # Safety
    ///
    /// The vectors must not be used or freed before `stream` is done.
    unsafe fn copy_operands(
        &mut self,
        mode: CopyMode,
        part: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        let second = self.second_row(&part);
        let operands = &self.pinned.operands;
        let (a, b) = match mode {
            CopyMode::Pageable => (
                &self.pageable.a[part.clone()],
                &self.pageable.b[part.clone()],
            ),
            CopyMode::Overlapped if self.pitch() <= self.max_pitch => {
                // SAFETY: the caller keeps the vectors untouched until the stream is done.
                return unsafe { self.copy_both(part, stream) };
            }
            CopyMode::Pinned | CopyMode::Overlapped => {
                (&operands[part.clone()], &operands[second.clone()])
            }
        };
        let mut device_a = self.device.operands.index(part);
        let mut device_b = self.device.operands.index(second);
        // SAFETY: the caller keeps the vectors untouched until the stream is done, and each
        // destination is as long as its source.
        unsafe {
            device_a.async_copy_from(a, stream)?;
            device_b.async_copy_from(b, stream)?;
        }
        Ok(())
    }

    /// Enqueues one two-row copy of a part of both operands from pinned memory to the GPU.
    ///
    /// # Safety
    ///
    /// The vectors must not be used or freed before `stream` is done.
    unsafe fn copy_both(&self, part: Range<usize>, stream: &Stream) -> Result<()> {
        let column = part.start * size_of::<f32>();
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: column,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: self.pinned.operands.as_ptr().cast(),
            srcDevice: 0,
            srcArray: ptr::null_mut(),
            srcPitch: self.pitch(),
            dstXInBytes: column,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: ptr::null_mut(),
            dstDevice: self.device.operands.as_device_ptr().as_raw(),
            dstArray: ptr::null_mut(),
            dstPitch: self.pitch(),
            WidthInBytes: part.len() * size_of::<f32>(),
            Height: ROWS,
        };
        // SAFETY: the caller keeps the vectors untouched until the stream is done. Source and
        // destination have two rows at this pitch that contain the part, and the driver ignores the
        // null members because of the memory types.
        check(unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.as_inner()) })
    }

    /// Returns the bytes from the start of an operand to that of the next.
    fn pitch(&self) -> usize {
        size_of_val(self.pageable.a)
    }

    /// Returns the range of a part of `b` in the operands.
    fn second_row(&self, part: &Range<usize>) -> Range<usize> {
        let count = self.pageable.a.len();
        part.start + count..part.end + count
    }
}

/// Makes `later` wait for all work that is in `earlier` now.
fn follow(later: &Stream, earlier: &Stream) -> Result<()> {
    let event = Event::new(EventFlags::DISABLE_TIMING)?;
    event.record(earlier)?;
    Ok(later.wait_event(event, StreamWaitEventFlags::DEFAULT)?)
}

/// Splits `count` elements into ranges, each no longer than the one before.
fn chunks(count: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    iter::from_fn(move || {
        let left = count - start;
        let part = start..start + (left / PART).max(MIN_CHUNK).min(left);
        start = part.end;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors;
    use common::{Gpu, module, timing};
    use cust::stream::StreamFlags;

    #[test]
    fn chunks_cover_everything_once_and_get_smaller() {
        for count in [
            1,
            17,
            MIN_CHUNK - 1,
            MIN_CHUNK,
            MIN_CHUNK + 1,
            4 * MIN_CHUNK,
            100 * MIN_CHUNK + 3,
        ] {
            let chunks: Vec<_> = chunks(count).collect();
            let all: Vec<_> = iter::once(0)
                .chain(chunks.iter().map(|chunk| chunk.end))
                .collect();
            assert!(
                chunks
                    .iter()
                    .map(|chunk| chunk.start)
                    .eq(all[..chunks.len()].iter().copied())
            );
            assert_eq!(all.last(), Some(&count));
            assert!(
                chunks.is_sorted_by(|chunk, next| chunk.len() >= next.len()),
                "{chunks:?}"
            );
        }
        assert_eq!(chunks(MIN_CHUNK).count(), 1);
        assert_eq!(chunks(0).count(), 0);
    }

    /// All copy modes compute the sum, for any number of runs, and overlapped chunks are faster than
    /// whole vectors.
    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn every_copy_mode() {
        let gpu = Gpu::open().unwrap();
        let other = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
        let events = timing::events(&gpu.stream).unwrap();
        let module = module::load(include_str!(env!("VECTOR_ADD_PTX"))).unwrap();
        // This length makes five chunks.
        let a: Vec<f32> = (0..4 * MIN_CHUNK + 17).map(|index| index as f32).collect();
        let b: Vec<f32> = a.iter().map(|element| 0.5 - element * 3.0).collect();
        let sum = vectors::add(&a, &b);
        let add = module.get_function("add").unwrap();
        let pitch = 4 * a.len();
        let mut trip = RoundTrip::new(add, 128, pitch, [&gpu.stream, &other], &a, &b).unwrap();
        let once = |trip: &mut RoundTrip, mode| {
            let milliseconds = [1, 2].map(|times| {
                trip.poison().unwrap();
                assert!(trip.sum(mode).iter().all(|element| element.is_nan()));
                let milliseconds = trip.time(mode, times, &events).unwrap();
                assert_eq!(trip.sum(mode), sum, "{mode:?}");
                milliseconds
            });
            assert!(milliseconds[1] > 1.9 * milliseconds[0], "{mode:?}");
            milliseconds[0]
        };
        let pageable = once(&mut trip, CopyMode::Pageable);
        let pinned = once(&mut trip, CopyMode::Pinned);
        let overlapped = once(&mut trip, CopyMode::Overlapped);
        // Rows that are too long for one copy are copied one after the other.
        trip.max_pitch = pitch - 1;
        let in_rows = once(&mut trip, CopyMode::Overlapped);
        assert!(in_rows > overlapped, "{in_rows} {overlapped}");
        let link = trip.time_link(1, &events).unwrap();
        assert!(pageable > 2.0 * pinned, "{pageable} {pinned}");
        assert!(pinned > 1.2 * overlapped, "{pinned} {overlapped}");
        assert!(overlapped > link && link > 0.0, "{overlapped} {link}");
        trip.free().unwrap();
    }

    #[test]
    fn every_copy_mode_computes_the_sum() {
        let folder = tempfile::tempdir().unwrap();
        chapter_test::run_child("round_trip::tests::every_copy_mode", folder.path());
    }
}
