//! The whole sum as a program needs it: both vectors there, the kernel, the sum back; and how much
//! of that can go on at the same time.
//!
//! A GPU has an engine for copies in each direction and one for kernels. In one stream they take
//! turns. With the vectors cut into chunks there can be a stream for each direction: a chunk's sum
//! comes back while the next chunk's vectors go there, so that the link to the GPU is busy both ways.

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

/// A chunk is this part of what is left, so that little is left to wait for at the end: the last
/// chunk's sum comes back alone.
const PART: usize = 4;

/// The smallest chunk but the last, in elements: to start a copy takes some microseconds, in which
/// the link could move a tenth of this.
const LEAST: usize = 1 << 18;

/// The operands: two rows, `a` and `b`.
const ROWS: usize = 2;

/// Where the vectors are on the computer, and how they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In a `Vec`, which the driver copies through pinned memory of its own.
    Pageable,
    /// In pinned memory, which the GPU copies by itself; one thing after the other.
    Pinned,
    /// In pinned memory, in chunks, with a stream for each direction.
    Overlapped,
}

/// The vectors where a program may have them, in three allocations.
struct Pageable<'a> {
    a: &'a [f32],
    b: &'a [f32],
    c: Vec<f32>,
}

/// Operands and sum, in one kind of memory. The operands are the rows of one allocation, so that one
/// copy in two dimensions takes the same part of both.
struct Vectors<B> {
    operands: B,
    sum: B,
}

/// The vectors in memory of each kind, and what adds them.
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
    /// Allocates seven vectors beside `a` and `b`, which are in those to copy from. `add` is the note's
    /// kernel, to be launched with blocks of `block` threads, as many as the device takes for the
    /// whole of `a`; its copies step over `max_pitch` bytes at most. The first of the streams is the
    /// one that is timed.
    ///
    /// # Errors
    ///
    /// Where one cannot be allocated.
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
            // SAFETY: each is written before it is read.
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

    /// Fills the sums with [`POISON`], here and on the GPU, so that what is not added or not copied
    /// shows.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn poison(&mut self) -> Result<()> {
        let poison = f32::from_ne_bytes([POISON; size_of::<f32>()]);
        self.pageable.c.fill(poison);
        self.pinned.sum.fill(poison);
        Ok(self.device.sum.set_8(POISON)?)
    }

    /// The sum that came back.
    pub fn sum(&self, way: Way) -> &[f32] {
        match way {
            Way::Pageable => &self.pageable.c,
            Way::Pinned | Way::Overlapped => &self.pinned.sum,
        }
    }

    /// Goes all the way `times` times between two events; returns the milliseconds of all together.
    ///
    /// # Errors
    ///
    /// CUDA's own. In any case nothing is under way any more.
    pub fn time(&mut self, way: Way, times: u32, events: &Events) -> Result<f32> {
        let count = self.pageable.a.len();
        // ANCHOR: ways
        self.timed(times, events, |trip| {
            let [there, back] = trip.streams;
            if way != Way::Overlapped {
                // SAFETY: `timed` waits for both streams before anything else is done.
                return unsafe {
                    trip.copy_there(way, 0..count, there)?;
                    trip.add_and_copy_back(way, 0..count, there)
                };
            }
            for part in chunks(count) {
                // SAFETY: as above, and no two parts share an element.
                unsafe {
                    trip.copy_there(way, part.clone(), there)?;
                    follow(back, there)?;
                    trip.add_and_copy_back(way, part, back)?;
                }
            }
            follow(there, back)
        })
        // ANCHOR_END: ways
    }

    /// What the link allows: the same bytes, both ways at once, and nothing waits for anything.
    ///
    /// # Errors
    ///
    /// As [`RoundTrip::time`].
    pub fn time_link(&mut self, times: u32, events: &Events) -> Result<f32> {
        self.timed(times, events, |trip| {
            let [there, back] = trip.streams;
            follow(back, there)?;
            let (pinned, device) = (&mut trip.pinned, &mut trip.device);
            // SAFETY: `timed` waits for both streams, and no vector is in two of these copies.
            unsafe {
                device.operands.async_copy_from(&pinned.operands, there)?;
                device.sum.async_copy_to(&mut pinned.sum, back)?;
            }
            follow(there, back)
        })
    }

    /// Frees all that CUDA allocated.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn free(self) -> Result<()> {
        free::pinned(self.pinned.operands, "a and b")?;
        free::pinned(self.pinned.sum, "c")?;
        free::device(self.device.operands, "a and b")?;
        free::device(self.device.sum, "c")
    }

    /// Times `work`, and waits for the second stream too, also where something fails.
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

    /// Adds a part of both operands, and copies the sum's part back, in `stream`.
    ///
    /// # Safety
    ///
    /// No part of the vectors may be used or freed before `stream` is done.
    unsafe fn add_and_copy_back(
        &mut self,
        way: Way,
        part: Range<usize>,
        stream: &Stream,
    ) -> Result<()> {
        let a = self.device.operands.index(part.clone());
        let b = self.device.operands.index(self.second_row(&part));
        let sum = self.device.sum.index(part.clone());
        let add = &self.add;
        // No more than the whole vector takes, which the device can launch.
        let blocks = part.len().div_ceil(self.block as usize) as u32;
        let back = match way {
            Way::Pageable => &mut self.pageable.c[part.clone()],
            Way::Pinned | Way::Overlapped => &mut self.pinned.sum[part.clone()],
        };
        // SAFETY: the caller's promise; the arguments are those of `add` in the .cu file, and each
        // of the three has as many elements as the part.
        unsafe {
            launch!(add<<<blocks, self.block, 0, stream>>>(
                a.as_device_ptr(), b.as_device_ptr(), sum.as_device_ptr(), part.len() as u64
            ))?;
            sum.async_copy_to(back, stream)?;
        }
        Ok(())
    }

    /// Copies a part of both operands there: one after the other, as the note does, or as one copy
    /// where there are many, for each has to be started.
    ///
    /// # Safety
    ///
    /// As [`RoundTrip::add_and_copy_back`].
    unsafe fn copy_there(&mut self, way: Way, part: Range<usize>, stream: &Stream) -> Result<()> {
        let second = self.second_row(&part);
        let operands = &self.pinned.operands;
        let (a, b) = match way {
            Way::Pageable => (
                &self.pageable.a[part.clone()],
                &self.pageable.b[part.clone()],
            ),
            Way::Overlapped if self.pitch() <= self.max_pitch => {
                // SAFETY: the caller's promise.
                return unsafe { self.copy_both(part, stream) };
            }
            Way::Pinned | Way::Overlapped => (&operands[part.clone()], &operands[second.clone()]),
        };
        let mut device_a = self.device.operands.index(part);
        let mut device_b = self.device.operands.index(second);
        // SAFETY: the caller's promise.
        unsafe {
            device_a.async_copy_from(a, stream)?;
            device_b.async_copy_from(b, stream)?;
        }
        Ok(())
    }

    /// Copies a part of both operands there from pinned memory, by one copy of two rows.
    ///
    /// # Safety
    ///
    /// As [`RoundTrip::add_and_copy_back`].
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
        // SAFETY: the caller's promise; both ends have two rows at this pitch, and the part is in
        // them. The copy does not look at what it was told is not there.
        check(unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.as_inner()) })
    }

    /// Bytes from an operand to the next.
    fn pitch(&self) -> usize {
        size_of_val(self.pageable.a)
    }

    /// Where a part of `b` is among the operands.
    fn second_row(&self, part: &Range<usize>) -> Range<usize> {
        let count = self.pageable.a.len();
        part.start + count..part.end + count
    }
}

/// Has `later` wait for all that is in `earlier` by now.
fn follow(later: &Stream, earlier: &Stream) -> Result<()> {
    let event = Event::new(EventFlags::DISABLE_TIMING)?;
    event.record(earlier)?;
    Ok(later.wait_event(event, StreamWaitEventFlags::DEFAULT)?)
}

/// `count` elements in parts, each smaller than the one before.
fn chunks(count: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    iter::from_fn(move || {
        let left = count - start;
        let part = start..start + (left / PART).max(LEAST).min(left);
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
    fn chunks_are_all_of_it_once_and_get_smaller() {
        for count in [
            1,
            17,
            LEAST - 1,
            LEAST,
            LEAST + 1,
            4 * LEAST,
            100 * LEAST + 3,
        ] {
            let chunks: Vec<_> = chunks(count).collect();
            let all: Vec<_> = iter::once(0)
                .chain(chunks.iter().map(|one| one.end))
                .collect();
            assert!(
                chunks
                    .iter()
                    .map(|one| one.start)
                    .eq(all[..chunks.len()].iter().copied())
            );
            assert_eq!(all.last(), Some(&count));
            assert!(
                chunks.is_sorted_by(|one, next| one.len() >= next.len()),
                "{chunks:?}"
            );
        }
        assert_eq!(chunks(LEAST).count(), 1);
        assert_eq!(chunks(0).count(), 0);
    }

    /// All ways bring back the sum, however often they go, and chunks are faster than the whole.
    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn every_way() {
        let gpu = Gpu::open().unwrap();
        let other = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
        let events = timing::events(&gpu.stream).unwrap();
        let module = module::load(include_str!(env!("VECTOR_ADD_PTX"))).unwrap();
        // Five chunks.
        let a: Vec<f32> = (0..4 * LEAST + 17).map(|index| index as f32).collect();
        let b: Vec<f32> = a.iter().map(|element| 0.5 - element * 3.0).collect();
        let sum = vectors::add(&a, &b);
        let add = module.get_function("add").unwrap();
        let pitch = 4 * a.len();
        let mut trip = RoundTrip::new(add, 128, pitch, [&gpu.stream, &other], &a, &b).unwrap();
        let once = |trip: &mut RoundTrip, way| {
            let milliseconds = [1, 2].map(|times| {
                trip.poison().unwrap();
                assert!(trip.sum(way).iter().all(|element| element.is_nan()));
                let milliseconds = trip.time(way, times, &events).unwrap();
                assert_eq!(trip.sum(way), sum, "{way:?}");
                milliseconds
            });
            assert!(milliseconds[1] > 1.9 * milliseconds[0], "{way:?}");
            milliseconds[0]
        };
        let pageable = once(&mut trip, Way::Pageable);
        let pinned = once(&mut trip, Way::Pinned);
        let overlapped = once(&mut trip, Way::Overlapped);
        // A row after the other, where they are too long for one copy.
        trip.max_pitch = pitch - 1;
        let in_rows = once(&mut trip, Way::Overlapped);
        assert!(in_rows > overlapped, "{in_rows} {overlapped}");
        let link = trip.time_link(1, &events).unwrap();
        assert!(pageable > 2.0 * pinned, "{pageable} {pinned}");
        assert!(pinned > 1.2 * overlapped, "{pinned} {overlapped}");
        assert!(overlapped > link && link > 0.0, "{overlapped} {link}");
        trip.free().unwrap();
    }

    #[test]
    fn every_way_brings_back_the_sum() {
        let folder = tempfile::tempdir().unwrap();
        chapter_test::child("round_trip::tests::every_way", folder.path());
    }
}
