//! Fat binaries: images with machine code and PTX for several GPUs, in memory or in a file. This module
//! extracts
//! uncompressed PTX.
//!
//! The format is undocumented; this code reads the fat binaries of CUDA 9 to 13.

use std::ffi::c_void;

use cuda_sim::driver::CudaError;

use super::watch::{Event, tell};
use crate::report::say;

/// The magic number of the wrapper structure that a compiler places in a program, and the offset of the
/// image's address.
const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPED: usize = 8;

/// The magic number of a fat binary.
const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// The kind of an entry that contains PTX instead of machine code.
const PTX: u16 = 1;

/// Offsets in a fat binary's header: size of the header, size of all entries.
const HEAD_BYTES: usize = 6;
const ALL_BYTES: usize = 8;

/// Size of the part of the header that is read here.
const HEAD: usize = 16;

/// Offsets in an entry's header: kind, size of the header, size of the content, GPU architecture, and
/// uncompressed size,
/// which is 0 for uncompressed content.
const KIND: usize = 0;
const ENTRY_HEAD_BYTES: usize = 4;
const CONTENT_BYTES: usize = 8;
const GPU: usize = 28;
const UNCOMPRESSED_BYTES: usize = 56;

/// The smallest entry header that has all these fields.
const LEAST_HEAD: usize = 64;

/// Returns the PTX for the newest GPU in an image that is a fat binary; `None` if it is not one. Returns
/// [`CudaError::NotSupported`] and prints the reason if it contains no usable PTX.
///
/// # Safety
/// `image` must be an image for `cuModuleLoadData` or `cuModuleLoadFatBinary` that outlives the result.
pub unsafe fn ptx<'a>(image: *const c_void) -> Result<Option<&'a [u8]>, CudaError> {
    // SAFETY: `image` is a valid image, by this function's contract: if it starts with a magic number, it has
    // the complete
    // header and all entries.
    unsafe {
        let mut image = image;
        if begins(image, WRAPPER) {
            image = number::<*const c_void>(image, WRAPPED);
            if image.is_null() || !begins(image, MAGIC) {
                return Err(CudaError::InvalidImage);
            }
        }
        match begins(image, MAGIC) {
            true => {
                let (head, bytes) = lengths(image);
                let all = image.cast::<u8>().add(head);
                newest(entries(std::slice::from_raw_parts(all, bytes))).map(Some)
            }
            false => Ok(None),
        }
    }
}

/// Same as [`ptx`], for an image in a file of known length. Returns [`CudaError::InvalidImage`] if its sizes
/// exceed the
/// file.
pub fn ptx_in(file: &[u8]) -> Result<Option<&[u8]>, CudaError> {
    if !file.starts_with(&MAGIC) {
        return Ok(None);
    }
    if file.len() < HEAD {
        return Err(CudaError::InvalidImage);
    }
    let image = file.as_ptr().cast();
    // SAFETY: the file has at least `HEADER` bytes.
    let (head, bytes) = unsafe { lengths(image) };
    let end = head.checked_add(bytes).filter(|&end| end <= file.len());
    let all = &file[head..end.ok_or(CudaError::InvalidImage)?];
    newest(entries(all)).map(Some)
}

/// Returns true if an image starts with these bytes, none of which is NUL. Stops reading at the first
/// difference, because
/// a text may be shorter.
///
/// # Safety
/// `image` must be readable up to its first NUL.
unsafe fn begins(image: *const c_void, with: [u8; 4]) -> bool {
    let mut bytes = with.into_iter().enumerate();
    // SAFETY: `image` is readable up to its first NUL, and all bytes before `offset` are equal and not NUL.
    bytes.all(|(place, byte)| unsafe { number::<u8>(image, place) } == byte)
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
/// `image` must have at least [`HEADER`] bytes.
unsafe fn lengths(image: *const c_void) -> (usize, usize) {
    // SAFETY: both fields are in the first `HEADER` bytes, which are readable by this function's contract.
    unsafe {
        (
            number::<u16>(image, HEAD_BYTES).into(),
            number::<u64>(image, ALL_BYTES) as usize,
        )
    }
}

/// Returns the entries of a fat binary; stops at one that exceeds it.
fn entries(mut rest: &[u8]) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    while rest.len() >= LEAST_HEAD {
        let start = rest.as_ptr().cast::<c_void>();
        // SAFETY: at least `MIN_ENTRY_HEADER` bytes are left, which contain all five fields.
        let (kind, head, bytes, gpu, uncompressed) = unsafe {
            (
                number::<u16>(start, KIND),
                number::<u32>(start, ENTRY_HEAD_BYTES) as usize,
                number::<u64>(start, CONTENT_BYTES) as usize,
                number::<u32>(start, GPU),
                number::<u64>(start, UNCOMPRESSED_BYTES),
            )
        };
        let Some(end) = head.checked_add(bytes).filter(|&end| end <= rest.len()) else {
            break;
        };
        if head < LEAST_HEAD {
            break;
        }
        found.push(Entry {
            kind,
            gpu,
            is_compressed: uncompressed != 0,
            content: &rest[head..end],
        });
        rest = &rest[end..];
    }
    found
}

fn newest<'a>(entries: Vec<Entry<'a>>) -> Result<&'a [u8], CudaError> {
    let ptx = entries.iter().filter(|entry| entry.kind == PTX);
    let plain = ptx.clone().filter(|entry| !entry.is_compressed);
    if let Some(found) = plain.max_by_key(|entry| entry.gpu) {
        return Ok(found.content);
    }
    let has = match ptx.count() {
        0 => "no PTX",
        _ => "compressed PTX alone",
    };
    let why =
        format!("the simulator loads PTX, not machine code: in this fat binary there is {has}");
    say(format_args!("{why}"));
    tell(Event::Refused(&why));
    Err(CudaError::NotSupported)
}

/// Reads a number at an offset, aligned or not.
///
/// # Safety
/// The number must be readable.
unsafe fn number<T: Copy>(at: *const c_void, place: usize) -> T {
    // SAFETY: the number is readable, by this function's contract.
    unsafe { at.cast::<u8>().add(place).cast::<T>().read_unaligned() }
}
