//! The kinds of copies: those of `cudaMemcpyKind` in the note, and those with pinned memory.

use anyhow::{Context as _, Result};
use common::error::check;
use common::timing::Events;
use common::verify::POISON;
use cust::memory::{AsyncCopyDestination, CopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::Stream;
use cust::sys;

use crate::free;

/// One kind of copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `cudaMemcpyHostToDevice`
    HostToDevice,
    /// `cudaMemcpyDeviceToHost`
    DeviceToHost,
    /// `cudaMemcpyDeviceToDevice`
    DeviceToDevice,
    /// `cudaMemcpyHostToHost`: for the driver, a default copy between two host addresses.
    HostToHost,
    /// `cudaMemcpyDefault` from a host address to one of the device.
    DefaultToDevice,
    /// `cudaMemcpyDefault` from an address of the device to one of the host.
    DefaultToHost,
    /// From pinned memory, in a stream.
    PinnedToDevice,
    /// To pinned memory, in a stream.
    PinnedToHost,
}

/// Where a copy ends up.
enum Target {
    Pageable,
    Pinned,
    Device,
}

impl Kind {
    /// All of them, the one that others are compared with first.
    pub const ALL: [Kind; 8] = [
        Kind::HostToDevice,
        Kind::DeviceToHost,
        Kind::DeviceToDevice,
        Kind::HostToHost,
        Kind::DefaultToDevice,
        Kind::DefaultToHost,
        Kind::PinnedToDevice,
        Kind::PinnedToHost,
    ];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::HostToDevice => "host to device",
            Kind::DeviceToHost => "device to host",
            Kind::DeviceToDevice => "device to device",
            Kind::HostToHost => "host to host",
            Kind::DefaultToDevice => "host to device, default",
            Kind::DefaultToHost => "device to host, default",
            Kind::PinnedToDevice => "host to device, pinned",
            Kind::PinnedToHost => "device to host, pinned",
        }
    }

    fn target(self) -> Target {
        match self {
            Kind::DeviceToHost | Kind::HostToHost | Kind::DefaultToHost => Target::Pageable,
            Kind::PinnedToHost => Target::Pinned,
            Kind::HostToDevice
            | Kind::DeviceToDevice
            | Kind::DefaultToDevice
            | Kind::PinnedToDevice => Target::Device,
        }
    }
}

/// Memory of each sort, twice: one that holds a vector, to copy from, and one to copy to.
///
/// A `Vec` is pageable: the operating system may move it to disk, so the GPU cannot fetch from it
/// by itself, and the driver copies it through memory of its own, piece by piece. A `LockedBuffer`
/// is pinned (page-locked): it stays where it is, the GPU copies it alone, and the host need not
/// wait.
pub struct Copies {
    from: Vec<f32>,
    to: Vec<f32>,
    pinned_from: LockedBuffer<f32>,
    pinned_to: LockedBuffer<f32>,
    device_from: DeviceBuffer<f32>,
    device_to: DeviceBuffer<f32>,
}

impl Copies {
    /// Allocates all six, with `vector` in those to copy from.
    ///
    /// # Errors
    ///
    /// Where one cannot be allocated.
    pub fn new(vector: Vec<f32>) -> Result<Self> {
        let pinned = |vector: &[f32]| {
            LockedBuffer::from_slice(vector).context("cannot allocate pinned memory")
        };
        let device = |vector: &[f32]| {
            DeviceBuffer::from_slice(vector).context("cannot allocate memory on the GPU")
        };
        Ok(Copies {
            to: vector.clone(),
            pinned_from: pinned(&vector)?,
            pinned_to: pinned(&vector)?,
            device_from: device(&vector)?,
            device_to: device(&vector)?,
            from: vector,
        })
    }

    /// What every copy has to carry.
    pub fn vector(&self) -> &[f32] {
        &self.from
    }

    /// Fills what `kind` copies to with [`POISON`], so that what is not copied shows.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn poison(&mut self, kind: Kind) -> Result<()> {
        let poison = f32::from_ne_bytes([POISON; size_of::<f32>()]);
        match kind.target() {
            Target::Pageable => self.to.fill(poison),
            Target::Pinned => self.pinned_to.fill(poison),
            Target::Device => self.device_to.set_8(POISON)?,
        }
        Ok(())
    }

    /// Copies `times` times between two events; returns the milliseconds of all together.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn time(&mut self, kind: Kind, times: u32, events: &Events) -> Result<f32> {
        events.time(|| {
            for _ in 0..times {
                // SAFETY: `events` waits for its stream, also where something fails, before
                // anything else can be done with either end.
                unsafe { self.copy(kind, events.stream()) }?;
            }
            Ok(())
        })
    }

    /// What `kind` has copied to, read back where it is on the GPU.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn copied(&self, kind: Kind) -> Result<Vec<f32>> {
        match kind.target() {
            Target::Pageable => Ok(self.to.clone()),
            Target::Pinned => Ok(self.pinned_to.to_vec()),
            Target::Device => Ok(self.device_to.as_host_vec()?),
        }
    }

    /// Frees all that CUDA allocated.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn free(self) -> Result<()> {
        free::pinned(self.pinned_from, "the vector to copy from")?;
        free::pinned(self.pinned_to, "the vector to copy to")?;
        free::device(self.device_from, "the vector to copy from")?;
        free::device(self.device_to, "the vector to copy to")
    }

    /// Copies once; pinned memory is copied in `stream`, and the host does not wait for it.
    ///
    /// # Safety
    ///
    /// With pinned memory, neither end may be used or freed before `stream` is done.
    unsafe fn copy(&mut self, kind: Kind, stream: &Stream) -> Result<()> {
        let bytes = size_of_val(&self.from[..]);
        let (host_to, host_from) = (self.to.as_mut_ptr() as u64, self.from.as_ptr() as u64);
        let device_to = self.device_to.as_device_ptr().as_raw();
        let device_from = self.device_from.as_device_ptr().as_raw();
        match kind {
            Kind::HostToDevice => self.device_to.copy_from(&self.from)?,
            Kind::DeviceToHost => self.device_from.copy_to(&mut self.to)?,
            Kind::DeviceToDevice => self.device_to.copy_from(&self.device_from)?,
            // SAFETY: all six vectors are equally long, and none is both ends.
            Kind::HostToHost => unsafe { copy_by_address(host_to, host_from, bytes) }?,
            // SAFETY: as above.
            Kind::DefaultToDevice => unsafe { copy_by_address(device_to, host_from, bytes) }?,
            // SAFETY: as above.
            Kind::DefaultToHost => unsafe { copy_by_address(host_to, device_from, bytes) }?,
            // SAFETY: the caller's promise.
            Kind::PinnedToDevice => unsafe {
                self.device_to.async_copy_from(&self.pinned_from, stream)?;
            },
            // SAFETY: the caller's promise.
            Kind::PinnedToHost => unsafe {
                self.device_from
                    .async_copy_to(&mut self.pinned_to, stream)?;
            },
        }
        Ok(())
    }
}

/// `cudaMemcpyDefault`: the driver tells by an address whether it is the host's or the device's,
/// because with unified virtual addressing no two memories share one. cust has no such copy.
///
/// # Safety
///
/// `bytes` bytes must be readable at `from` and writable at `to`, and be apart.
unsafe fn copy_by_address(to: u64, from: u64, bytes: usize) -> Result<()> {
    // SAFETY: the caller's promise.
    check(unsafe { sys::cuMemcpy(to, from, bytes) }).context("cuMemcpy failed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use common::{Gpu, timing};

    /// Every kind overwrites poison with the vector, however often it copies; and its ends are
    /// where its name says.
    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn every_kind() {
        let gpu = Gpu::open().unwrap();
        let events = timing::events(&gpu.stream).unwrap();
        let mut copies = Copies::new(vec![1.5, -2.0, 3.25]).unwrap();
        for kind in Kind::ALL {
            copies.poison(kind).unwrap();
            let poisoned = copies.copied(kind).unwrap();
            assert!(poisoned.iter().all(|element| element.is_nan()), "{kind:?}");
            for times in [1, 3] {
                copies.time(kind, times, &events).unwrap();
                assert_eq!(copies.copied(kind).unwrap(), copies.vector(), "{kind:?}");
            }
            let to_device = kind.name().contains("to device");
            assert_eq!(
                matches!(kind.target(), Target::Device),
                to_device,
                "{kind:?}"
            );
        }
        copies.free().unwrap();
    }

    #[test]
    fn every_kind_copies() {
        let folder = tempfile::tempdir().unwrap();
        chapter_test::child("copies::tests::every_kind", folder.path());
    }

    #[test]
    #[ignore = "another test runs it in a process of its own"]
    fn an_address_of_nothing() {
        let _gpu = Gpu::open().unwrap();
        let mut to = 0.0_f32;
        // SAFETY: address 0 is refused before anything is copied.
        let copied = unsafe { copy_by_address(&raw mut to as u64, 0, size_of::<f32>()) };
        println!("{}", common::error::in_words(&copied.unwrap_err()));
    }

    #[test]
    fn a_copy_that_fails_has_the_drivers_error() {
        let folder = tempfile::tempdir().unwrap();
        let name = "copies::tests::an_address_of_nothing";
        let (said, _) = chapter_test::child(name, folder.path());
        assert!(
            said.contains("cuMemcpy failed: CUDA_ERROR_INVALID_VALUE"),
            "{said}"
        );
    }
}
