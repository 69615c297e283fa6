//! Fat binaries: images with machine code and PTX for several GPUs, in memory or in a file. This module
//! extracts uncompressed PTX.
//!
//! The format is undocumented; this code reads the fat binaries of CUDA 9 to 13.

use std::ffi::c_void;

use cuda_sim::driver::CudaError;

use super::SIMULATOR;
use crate::log::warn;
use crate::simulator::Event;

/// The magic number of the wrapper structure that a compiler places in a program, and the offset of the
/// image's address.
const WRAPPER_MAGIC: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPED_IMAGE: usize = 8;

/// The magic number of a fat binary.
const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// The kind of an entry that contains PTX instead of machine code.
const PTX: u16 = 1;

/// Offsets in a fat binary's header: size of the header, size of all entries.
const HEADER_SIZE: usize = 6;
const ENTRIES_SIZE: usize = 8;

/// Size of the part of the header that is read here.
const HEADER_BYTES_READ: usize = 16;

/// Offsets in an entry's header: kind, size of the header, size of the content, GPU architecture, and
/// uncompressed size, which is 0 for uncompressed content.
const ENTRY_KIND: usize = 0;
const ENTRY_HEADER_SIZE: usize = 4;
const CONTENT_SIZE: usize = 8;
const ENTRY_GPU: usize = 28;
const UNCOMPRESSED_SIZE: usize = 56;

/// The smallest entry header that has all these fields.
const MIN_ENTRY_HEADER: usize = 64;

/// Returns the PTX for the newest GPU in an image that is a fat binary; `None` if it is not one. Returns
/// [`CudaError::NotSupported`] and prints the reason if it contains no usable PTX.
///
/// # Safety
/// `image` must be an image for `cuModuleLoadData` or `cuModuleLoadFatBinary` that outlives the result.
pub unsafe fn ptx<'a>(image: *const c_void) -> Result<Option<&'a [u8]>, CudaError> {
    // SAFETY: `image` is a valid image, by this function's contract: if it starts with a magic number, it has
    // the complete header and all entries.
    unsafe {
        let mut image = image;
        if starts_with(image, WRAPPER_MAGIC) {
            image = read_at::<*const c_void>(image, WRAPPED_IMAGE);
            if image.is_null() || !starts_with(image, MAGIC) {
                return Err(CudaError::InvalidImage);
            }
        }
        match starts_with(image, MAGIC) {
            true => {
                let (header_size, size) = sizes(image);
                let entries_bytes = image.cast::<u8>().add(header_size);
                newest_ptx(entries(std::slice::from_raw_parts(entries_bytes, size))).map(Some)
            }
            false => Ok(None),
        }
    }
}

/// Same as [`ptx`], for an image in a file of known length. Returns [`CudaError::InvalidImage`] if its sizes
/// exceed the file.
pub fn ptx_in_file(file: &[u8]) -> Result<Option<&[u8]>, CudaError> {
    if !file.starts_with(&MAGIC) {
        return Ok(None);
    }
    if file.len() < HEADER_BYTES_READ {
        return Err(CudaError::InvalidImage);
    }
    let image = file.as_ptr().cast();
    // SAFETY: the file has at least `HEADER_BYTES_READ` bytes.
    let (header_size, size) = unsafe { sizes(image) };
    let end = header_size
        .checked_add(size)
        .filter(|&end| end <= file.len());
    let entries_bytes = &file[header_size..end.ok_or(CudaError::InvalidImage)?];
    newest_ptx(entries(entries_bytes)).map(Some)
}

/// The identification of an ELF file of 64 bits, little-endian, up to its first NUL.
pub const ELF_IDENTIFICATION: &[u8] = b"\x7fELF\x02\x01\x01";
/// Bytes of an ELF file's header that are read here.
pub const ELF_BYTES_READ: usize = 20;

/// Returns true for a file of machine code: an ELF file for NVIDIA's GPUs, with `EM_CUDA` as the machine.
pub fn is_cubin(file: &[u8]) -> bool {
    const MACHINE: std::ops::Range<usize> = 18..20;
    const CUDA: [u8; 2] = 190_u16.to_le_bytes();
    file.starts_with(ELF_IDENTIFICATION) && file.get(MACHINE) == Some(&CUDA)
}

/// Returns true if an image starts with these bytes, none of which is NUL. Stops reading at the first
/// difference, because a text may be shorter.
///
/// # Safety
/// `image` must be readable up to its first NUL.
unsafe fn starts_with(image: *const c_void, prefix: [u8; 4]) -> bool {
    let mut bytes = prefix.into_iter().enumerate();
    // SAFETY: `image` is readable up to its first NUL, and all bytes before `offset` are equal and not NUL.
    bytes.all(|(offset, byte)| unsafe { read_at::<u8>(image, offset) } == byte)
}

/// One entry of a fat binary.
#[derive(Clone, Copy)]
struct Entry<'a> {
    kind: u16,
    gpu: u32,
    is_compressed: bool,
    content: &'a [u8],
}

/// Returns the size of a fat binary's header and of all its entries.
///
/// # Safety
/// `image` must have at least [`HEADER_BYTES_READ`] bytes.
unsafe fn sizes(image: *const c_void) -> (usize, usize) {
    // SAFETY: both fields are in the first `HEADER_BYTES_READ` bytes, which are readable by this function's
    // contract.
    unsafe {
        (
            read_at::<u16>(image, HEADER_SIZE).into(),
            read_at::<u64>(image, ENTRIES_SIZE) as usize,
        )
    }
}

/// Returns the entries of a fat binary; stops at one that exceeds it.
fn entries(mut bytes_left: &[u8]) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    while bytes_left.len() >= MIN_ENTRY_HEADER {
        let start = bytes_left.as_ptr().cast::<c_void>();
        // SAFETY: at least `MIN_ENTRY_HEADER` bytes are left, which contain all five fields.
        let (kind, header_size, size, gpu, uncompressed) = unsafe {
            (
                read_at::<u16>(start, ENTRY_KIND),
                read_at::<u32>(start, ENTRY_HEADER_SIZE) as usize,
                read_at::<u64>(start, CONTENT_SIZE) as usize,
                read_at::<u32>(start, ENTRY_GPU),
                read_at::<u64>(start, UNCOMPRESSED_SIZE),
            )
        };
        let Some(end) = header_size
            .checked_add(size)
            .filter(|&end| end <= bytes_left.len())
        else {
            break;
        };
        if header_size < MIN_ENTRY_HEADER {
            break;
        }
        entries.push(Entry {
            kind,
            gpu,
            is_compressed: uncompressed != 0,
            content: &bytes_left[header_size..end],
        });
        bytes_left = &bytes_left[end..];
    }
    entries
}

fn newest_ptx<'a>(entries: Vec<Entry<'a>>) -> Result<&'a [u8], CudaError> {
    let ptx = entries.iter().filter(|entry| entry.kind == PTX);
    let uncompressed_ptx = ptx.clone().filter(|entry| !entry.is_compressed);
    if let Some(entry) = uncompressed_ptx.max_by_key(|entry| entry.gpu) {
        return Ok(entry.content);
    }
    let contents = match ptx.count() {
        0 => "no PTX",
        _ => "only compressed PTX",
    };
    let message =
        format!("the simulator loads PTX, not machine code: this fat binary contains {contents}");
    warn(format_args!("{message}"));
    SIMULATOR.telemetry.emit(Event::ModuleRejected(&message));
    Err(CudaError::NotSupported)
}

/// Reads a number at an offset, aligned or not.
///
/// # Safety
/// The number must be readable.
unsafe fn read_at<T: Copy>(base: *const c_void, offset: usize) -> T {
    // SAFETY: the number is readable, by this function's contract.
    unsafe { base.cast::<u8>().add(offset).cast::<T>().read_unaligned() }
}
