//! Pitched memory, which cust has no type for: every row starts on a boundary that suits the
//! device, so rows are padded to the *pitch*.
//!
//! From the note on memory, "Device memory": `cudaMallocPitch`, `cudaMalloc3D`, `cudaMemcpy2D` and
//! `cudaMemcpy3D`, here with the driver's functions that those stand on.

use std::ffi::c_uint;
use std::ptr;

use anyhow::{Context as _, Result, anyhow, ensure};
use common::error::check;
use cust::memory::bytemuck::Pod;
use cust::memory::{DeviceCopy, DevicePointer};
use cust::sys::{self, CUmemorytype};

/// Every GPU so far pads rows to a multiple of this many bytes. How long they become is the
/// driver's to say: [`PitchedBuffer::pitch`].
pub const PADDING: usize = 512;

/// Device memory in two or three dimensions: `depth` slices of `height` rows of `width` elements.
/// It is freed when this is dropped.
#[derive(Debug)]
pub struct PitchedBuffer<T: DeviceCopy> {
    address: DevicePointer<T>,
    pitch: usize,
    width: usize,
    height: usize,
    depth: usize,
}

impl<T: DeviceCopy + Pod> PitchedBuffer<T> {
    /// Allocates `height` rows of `width` elements, as `cudaMallocPitch` does. What is in them is
    /// not defined.
    ///
    /// # Errors
    ///
    /// For no elements, for rows wider than the device takes, and where there is not that much
    /// memory.
    pub fn new_2d(width: usize, height: usize) -> Result<Self> {
        Self::new_3d(width, height, 1)
    }

    /// Allocates `depth` slices of `height` rows of `width` elements, as `cudaMalloc3D` does: the
    /// driver knows no such allocation, so this is a pitched one of `height * depth` rows.
    ///
    /// # Errors
    ///
    /// As [`Self::new_2d`].
    pub fn new_3d(width: usize, height: usize, depth: usize) -> Result<Self> {
        let what = || {
            let element = size_of::<T>();
            format!("cannot allocate {depth}x{height} rows of {width} elements of {element} bytes")
        };
        let rows = height.checked_mul(depth);
        let row_bytes = width.checked_mul(size_of::<T>());
        let bytes = rows.and_then(|rows| {
            let padded = row_bytes?.checked_next_multiple_of(PADDING)?;
            padded.checked_mul(rows)
        });
        let (Some(rows), Some(row_bytes), Some(bytes)) = (rows, row_bytes, bytes) else {
            return Err(anyhow!("these are more bytes than can be counted").context(what()));
        };
        ensure!(bytes > 0, "{}: these are no bytes", what());

        // ANCHOR: allocate
        let (mut address, mut pitch) = (0, 0);
        // SAFETY: both are places to write to.
        let status = unsafe {
            sys::cuMemAllocPitch_v2(
                &mut address,
                &mut pitch,
                row_bytes,
                rows,
                access_bytes::<T>(),
            )
        };
        check(status).with_context(what)?;
        // ANCHOR_END: allocate
        Ok(PitchedBuffer {
            address: DevicePointer::from_raw(address),
            pitch,
            width,
            height,
            depth,
        })
    }

    /// Copies all rows here, as `cudaMemcpy2D` does. In `source` a row starts `stride` elements
    /// after the one before it: `width` of them for a matrix of its own, more for a part of a
    /// wider one.
    ///
    /// # Errors
    ///
    /// Where `source` is not that many rows (after the last, the rest up to `stride` may be
    /// missing), and CUDA's own.
    pub fn copy_2d_from(&mut self, source: &[T], stride: usize) -> Result<()> {
        let host_pitch = self.host_pitch(source.len(), stride)?;
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: source.as_ptr().cast(),
            srcDevice: 0,
            srcArray: ptr::null_mut(),
            srcPitch: host_pitch,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: ptr::null_mut(),
            dstDevice: self.address.as_raw(),
            dstArray: ptr::null_mut(),
            dstPitch: self.pitch,
            WidthInBytes: self.row_bytes(),
            Height: self.rows(),
        };
        // SAFETY: `source` has `rows` rows at this pitch, as just checked, and so has this
        // allocation; the copy does not look at what it was told is not there.
        check(unsafe { sys::cuMemcpy2D_v2(&copy) }).context("cannot copy rows to the GPU")
    }

    /// Copies all slices from here, as `cudaMemcpy3D` does. In `destination` a row starts `stride`
    /// elements after the one before it; what is between two rows stays as it is.
    ///
    /// # Errors
    ///
    /// As [`Self::copy_2d_from`].
    pub fn copy_3d_to(&self, destination: &mut [T], stride: usize) -> Result<()> {
        let host_pitch = self.host_pitch(destination.len(), stride)?;
        let copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: ptr::null(),
            srcDevice: self.address.as_raw(),
            srcArray: ptr::null_mut(),
            reserved0: ptr::null_mut(),
            srcPitch: self.pitch,
            srcHeight: self.height,
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: destination.as_mut_ptr().cast(),
            dstDevice: 0,
            dstArray: ptr::null_mut(),
            reserved1: ptr::null_mut(),
            dstPitch: host_pitch,
            dstHeight: self.height,
            WidthInBytes: self.row_bytes(),
            Height: self.height,
            Depth: self.depth,
        };
        // SAFETY: as in `copy_2d_from`, the other way round; a `T` may have any bytes.
        check(unsafe { sys::cuMemcpy3D_v2(&copy) }).context("cannot copy rows from the GPU")
    }

    /// Sets every byte of every element to `value`, as `cudaMemset2D` does. The padding stays as
    /// it is.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn set_8(&mut self, value: u8) -> Result<()> {
        let (address, rows) = (self.address.as_raw(), self.rows());
        // SAFETY: this allocation has `rows` rows at this pitch, and a `T` may have any bytes.
        let status =
            unsafe { sys::cuMemsetD2D8_v2(address, self.pitch, value, self.row_bytes(), rows) };
        check(status).context("cannot fill rows on the GPU")
    }

    /// Sets every byte to `value`, those of the padding as well.
    ///
    /// # Errors
    ///
    /// CUDA's own.
    pub fn fill_8(&mut self, value: u8) -> Result<()> {
        let bytes = self.pitch * self.rows();
        // SAFETY: this allocation has as many bytes, and a `T` may have any.
        let status = unsafe { sys::cuMemsetD8_v2(self.address.as_raw(), value, bytes) };
        check(status).context("cannot fill rows and padding on the GPU")
    }

    /// Bytes from one row to the next in an array of `len` elements on the computer, which has to
    /// hold all rows and no more.
    fn host_pitch(&self, len: usize, stride: usize) -> Result<usize> {
        let (width, rows) = (self.width, self.rows());
        ensure!(
            stride >= width,
            "rows of {width} elements cannot start every {stride} elements"
        );
        let all_but_last = stride.checked_mul(rows - 1);
        let fewest = all_but_last.and_then(|elements| elements.checked_add(width));
        let most = stride.saturating_mul(rows);
        ensure!(
            fewest.is_some_and(|fewest| (fewest..=most).contains(&len)),
            "an array of {len} elements is not {rows} rows of {width} that start every {stride}"
        );
        let pitch = stride.checked_mul(size_of::<T>());
        pitch.with_context(|| format!("a stride of {stride} elements is too long"))
    }

    fn row_bytes(&self) -> usize {
        self.width * size_of::<T>()
    }
}

impl<T: DeviceCopy> PitchedBuffer<T> {
    /// The first element.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.address
    }

    /// Bytes from the start of a row to that of the next: at least its elements'.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Elements of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows of a slice.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Rows of all slices together, which lie one after the other.
    pub fn rows(&self) -> usize {
        self.height * self.depth
    }
}

impl<T: DeviceCopy> Drop for PitchedBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: this is the allocation's address, and nobody else frees it. An error has nowhere
        // to go: it is an earlier launch's, which has shown already.
        let _ = unsafe { sys::cuMemFree_v2(self.address.as_raw()) };
    }
}

/// The largest access that a kernel makes to a `T`, which the driver aligns rows for.
fn access_bytes<T>() -> c_uint {
    match size_of::<T>() {
        0..=4 => 4,
        5..=8 => 8,
        _ => 16,
    }
}
