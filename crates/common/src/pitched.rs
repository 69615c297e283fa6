//! Pitched memory, for which cust has no type: every row starts on an aligned address, so rows are padded to
//! the *pitch*.
//!
//! Follows the note on memory, "Device memory": `cudaMallocPitch`, `cudaMalloc3D`, `cudaMemcpy2D` and
//! `cudaMemcpy3D`, here with the driver functions that implement them.

use std::ffi::c_uint;
use std::ptr;

use anyhow::{Context as _, Result, anyhow, ensure};
use cust::memory::bytemuck::Pod;
use cust::memory::{DeviceCopy, DevicePointer};
use cust::sys::{self, CUmemorytype};

use crate::error::check;

/// All GPUs so far pad rows to a multiple of this many bytes. The actual pitch is determined by the driver:
/// [`PitchedBuffer::pitch`].
pub const PADDING: usize = 512;

/// Device memory in two or three dimensions: `depth` slices of `height` rows of `width` elements. It is freed
/// on drop.
#[derive(Debug)]
pub struct PitchedBuffer<T: DeviceCopy> {
    address: DevicePointer<T>,
    pitch: usize,
    width: usize,
    height: usize,
    depth: usize,
}

impl<T: DeviceCopy + Pod> PitchedBuffer<T> {
    /// Allocates `height` rows of `width` elements, like `cudaMallocPitch`. The memory is uninitialized.
    ///
    /// # Errors
    ///
    /// Fails for zero elements, for rows wider than the device allows, and if there is not enough memory.
    pub fn new_2d(width: usize, height: usize) -> Result<Self> {
        Self::new_3d(width, height, 1)
    }

    /// Allocates `depth` slices of `height` rows of `width` elements, like `cudaMalloc3D`. The driver has no
    /// such allocation, so this is a pitched one of `height * depth` rows.
    ///
    /// # Errors
    ///
    /// Fails where [`Self::new_2d`] does.
    pub fn new_3d(width: usize, height: usize, depth: usize) -> Result<Self> {
        let description = || {
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
            return Err(anyhow!("the size in bytes overflows").context(description()));
        };
        ensure!(bytes > 0, "{}: the size is zero bytes", description());

        // ANCHOR: allocate
        let (mut address, mut pitch) = (0, 0);
        // SAFETY: both output pointers are valid and writable.
        let status = unsafe {
            sys::cuMemAllocPitch_v2(
                &mut address,
                &mut pitch,
                row_bytes,
                rows,
                access_bytes::<T>(),
            )
        };
        check(status).with_context(description)?;
        // ANCHOR_END: allocate
        Ok(PitchedBuffer {
            address: DevicePointer::from_raw(address),
            pitch,
            width,
            height,
            depth,
        })
    }

    /// Copies all rows from the host, like `cudaMemcpy2D`. In `source` consecutive rows start `stride`
    /// elements apart: `width` for a whole matrix, more for a part of a wider one.
    ///
    /// # Errors
    ///
    /// Fails if `source` does not have that many rows (the last one may be shorter than `stride`), or CUDA
    /// reports an error.
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
        // SAFETY: `source` has `rows` rows at this pitch, as checked above, and so has this allocation; the
        // driver ignores the null members because of the memory types.
        check(unsafe { sys::cuMemcpy2D_v2(&copy) }).context("cannot copy rows to the GPU")
    }

    /// Copies all slices to the host, like `cudaMemcpy3D`. In `destination` consecutive rows start `stride`
    /// elements apart; the elements between rows keep their values.
    ///
    /// # Errors
    ///
    /// Fails where [`Self::copy_2d_from`] does.
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
        // SAFETY: `destination` has `rows` rows at this pitch, as checked above, and so has this allocation;
        // `T: Pod` is valid for any bytes.
        check(unsafe { sys::cuMemcpy3D_v2(&copy) }).context("cannot copy rows from the GPU")
    }

    /// Sets every byte of every element to `value`, like `cudaMemset2D`. The padding keeps its value.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn set_8(&mut self, value: u8) -> Result<()> {
        let (address, rows) = (self.address.as_raw(), self.rows());
        // SAFETY: this allocation has `rows` rows at this pitch, and `T: Pod` is valid for any bytes.
        let status =
            unsafe { sys::cuMemsetD2D8_v2(address, self.pitch, value, self.row_bytes(), rows) };
        check(status).context("cannot fill rows on the GPU")
    }

    /// Sets every byte to `value`, including the padding.
    ///
    /// # Errors
    ///
    /// Fails if CUDA reports an error.
    pub fn fill_8(&mut self, value: u8) -> Result<()> {
        let bytes = self.pitch * self.rows();
        // SAFETY: this allocation has `pitch * rows` bytes, and `T: Pod` is valid for any bytes.
        let status = unsafe { sys::cuMemsetD8_v2(self.address.as_raw(), value, bytes) };
        check(status).context("cannot fill rows and padding on the GPU")
    }

    /// Returns the bytes from one row to the next in a host array of `len` elements, after checking that the
    /// array has exactly the rows of this buffer.
    fn host_pitch(&self, len: usize, stride: usize) -> Result<usize> {
        let (width, rows) = (self.width, self.rows());
        ensure!(
            stride >= width,
            "rows of {width} elements cannot start every {stride} elements"
        );
        let all_but_last = stride.checked_mul(rows - 1);
        let min = all_but_last.and_then(|elements| elements.checked_add(width));
        let max = stride.saturating_mul(rows);
        ensure!(
            min.is_some_and(|min| (min..=max).contains(&len)),
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
    /// Returns the address of the first element.
    pub fn as_device_ptr(&self) -> DevicePointer<T> {
        self.address
    }

    /// Returns the bytes from the start of a row to that of the next.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Returns the elements per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the rows per slice.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the rows of all slices together, which are stored one after the other.
    pub fn rows(&self) -> usize {
        self.height * self.depth
    }
}

impl<T: DeviceCopy> Drop for PitchedBuffer<T> {
    fn drop(&mut self) {
        // SAFETY: this is the address of an allocation that only this buffer frees. An error is ignored: it
        // belongs to an earlier launch and has been reported there.
        let _ = unsafe { sys::cuMemFree_v2(self.address.as_raw()) };
    }
}

/// Returns the largest access size of kernels to a `T`, for which the driver aligns rows.
fn access_bytes<T>() -> c_uint {
    match size_of::<T>() {
        0..=4 => 4,
        5..=8 => 8,
        _ => 16,
    }
}
