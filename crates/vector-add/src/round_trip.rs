//! The whole sum as a program needs it: both vectors there, the kernel, the sum back; and how much
//! of that can go on at the same time.
//!
//! A GPU has an engine for copies in each direction and one for kernels. In one stream they take
//! turns. In two streams, with the vectors cut into chunks, a chunk's sum comes back while the next
//! chunk's vectors go there, so that the link to the GPU is busy both ways.

use std::iter;
use std::ops::Range;

use anyhow::{Context as _, Result};
use common::timing::Events;
use common::verify::POISON;
use cust::event::{Event, EventFlags};
use cust::function::Function;
use cust::launch;
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamWaitEventFlags};

use crate::free;

/// A chunk is this part of what is left, so that little is left to wait for at the end: the last
/// chunk's sum comes back alone.
const PART: usize = 3;

/// The smallest chunk but the last, in elements: to start a copy takes some microseconds, in which
/// the link could move a tenth of this.
const LEAST: usize = 1 << 19;

/// Where the vectors are on the computer, and how they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In a `Vec`, which the driver copies through pinned memory of its own.
    Pageable,
    /// In pinned memory, which the GPU copies by itself; one thing after the other.
    Pinned,
    /// In pinned memory, in chunks that two streams take in turns.
    Overlapped,
}

/// Operands and sum, in one kind of memory.
struct Vectors<B> {
    a: B,
    b: B,
    c: B,
}

/// The vectors in memory of each kind, and what adds them.
pub struct RoundTrip<'a> {
    add: Function<'a>,
    block: u32,
    pageable: Vectors<Vec<f32>>,
    pinned: Vectors<LockedBuffer<f32>>,
    device: Vectors<DeviceBuffer<f32>>,
    streams: [&'a Stream; 2],
}

impl<'a> RoundTrip<'a> {
    /// Allocates all nine vectors, with `a` and `b` in those to copy from. `add` is the note's
    /// kernel, to be launched with blocks of `block` threads, as many as the device takes for the
    /// whole of `a`. The first of the streams is the one that is timed.
    ///
    /// # Errors
    ///
    /// Where one cannot be allocated.
    pub fn new(
        add: Function<'a>,
        block: u32,
        streams: [&'a Stream; 2],
        a: Vec<f32>,
        b: Vec<f32>,
    ) -> Result<Self> {
        let pinned = |vector: &[f32]| {
            LockedBuffer::from_slice(vector).context("cannot allocate pinned memory")
        };
        let device = || {
            // SAFETY: each is written before it is read.
            unsafe { DeviceBuffer::uninitialized(a.len()) }
                .context("cannot allocate memory on the GPU")
        };
        Ok(RoundTrip {
            add,
            block,
            pinned: Vectors {
                a: pinned(&a)?,
                b: pinned(&b)?,
                c: pinned(&a)?,
            },
            device: Vectors {
                a: device()?,
                b: device()?,
                c: device()?,
            },
            pageable: Vectors {
                c: vec![0.0; a.len()],
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
        self.pinned.c.fill(poison);
        Ok(self.device.c.set_8(POISON)?)
    }

    /// The sum that came back.
    pub fn sum(&self, way: Way) -> &[f32] {
        match way {
            Way::Pageable => &self.pageable.c,
            Way::Pinned | Way::Overlapped => &self.pinned.c,
        }
    }

    /// Goes all the way `times` times between two events; returns the milliseconds of all together.
    ///
    /// # Errors
    ///
    /// CUDA's own. In any case nothing is under way any more.
    pub fn time(&mut self, way: Way, times: u32, events: &Events) -> Result<f32> {
        let whole = 0..self.pageable.a.len();
        self.timed(times, events, |trip| {
            let [stream, other] = trip.streams;
            if way != Way::Overlapped {
                // SAFETY: `timed` waits for both streams before anything else is done.
                return unsafe { trip.add_part(way, whole.clone(), stream) };
            }
            follow(other, stream)?;
            for (part, stream) in chunks(whole.len()).zip([stream, other].into_iter().cycle()) {
                // SAFETY: as above, and no two parts share an element.
                unsafe { trip.add_part(way, part, stream) }?;
            }
            follow(stream, other)
        })
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
            // SAFETY: `timed` waits for both streams, and no vector is in two of these copies.
            unsafe {
                trip.device.a.async_copy_from(&trip.pinned.a, there)?;
                trip.device.b.async_copy_from(&trip.pinned.b, there)?;
                trip.device.c.async_copy_to(&mut trip.pinned.c, back)?;
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
        let Vectors { a, b, c } = self.pinned;
        free::pinned(a, "a")?;
        free::pinned(b, "b")?;
        free::pinned(c, "c")?;
        let Vectors { a, b, c } = self.device;
        free::device(a, "a")?;
        free::device(b, "b")?;
        free::device(c, "c")
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

    /// Copies a part of both vectors there, adds it, and copies the sum's part back, all in
    /// `stream`.
    ///
    /// # Safety
    ///
    /// No part of the vectors may be used or freed before `stream` is done.
    unsafe fn add_part(&mut self, way: Way, part: Range<usize>, stream: &Stream) -> Result<()> {
        let (pageable, pinned) = (&mut self.pageable, &mut self.pinned);
        let (a, b, c): (&[f32], &[f32], &mut [f32]) = match way {
            Way::Pageable => (&pageable.a, &pageable.b, &mut pageable.c),
            Way::Pinned | Way::Overlapped => (&pinned.a, &pinned.b, &mut pinned.c),
        };
        let mut device_a = self.device.a.index(part.clone());
        let mut device_b = self.device.b.index(part.clone());
        let device_c = self.device.c.index(part.clone());
        let add = &self.add;
        // No more than the whole vector takes, which the device can launch.
        let blocks = part.len().div_ceil(self.block as usize) as u32;
        // SAFETY: the caller's promise; the arguments are those of `add` in the .cu file, and each
        // of the three has as many elements as the part.
        unsafe {
            device_a.async_copy_from(&a[part.clone()], stream)?;
            device_b.async_copy_from(&b[part.clone()], stream)?;
            launch!(add<<<blocks, self.block, 0, stream>>>(
                device_a.as_device_ptr(), device_b.as_device_ptr(), device_c.as_device_ptr(),
                part.len() as u64
            ))?;
            device_c.async_copy_to(&mut c[part], stream)?;
        }
        Ok(())
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
        // Six chunks.
        let a: Vec<f32> = (0..4 * LEAST + 17).map(|index| index as f32).collect();
        let b: Vec<f32> = a.iter().map(|element| 0.5 - element * 3.0).collect();
        let sum = vectors::add(&a, &b);
        let add = module.get_function("add").unwrap();
        let mut trip = RoundTrip::new(add, 128, [&gpu.stream, &other], a, b).unwrap();
        let mut once = |way| {
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
        let pageable = once(Way::Pageable);
        let pinned = once(Way::Pinned);
        let overlapped = once(Way::Overlapped);
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
