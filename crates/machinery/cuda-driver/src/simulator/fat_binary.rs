//! Fat binaries: machine code and PTX for several GPUs in one image, in memory or in a file. The PTX in one is taken
//! out, where it is not compressed.
//!
//! The form is undocumented; this is how fat binaries of CUDA 9 to 13 lie.

use std::ffi::c_void;

use cuda_sim::driver::CudaError;

use super::watch::{Event, tell};
use crate::report::say;

/// How the structure begins that a compiler leaves in a program for its fat binary, and where that has the address.
const WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const WRAPPED: usize = 8;

/// How a fat binary begins.
const MAGIC: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();

/// The kind of an entry that is PTX, and not machine code.
const PTX: u16 = 1;

/// The head of a fat binary, behind its magic number: the bytes of this head, and those of all entries.
const HEAD_BYTES: usize = 6;
const ALL_BYTES: usize = 8;

/// The bytes of that head that are read here.
const HEAD: usize = 16;

/// The head of an entry: its kind, the bytes of this head and of what follows it, for which GPU it is, and how many
/// bytes it has where it is compressed; 0 where it is not.
const KIND: usize = 0;
const ENTRY_HEAD_BYTES: usize = 4;
const CONTENT_BYTES: usize = 8;
const GPU: usize = 28;
const UNCOMPRESSED_BYTES: usize = 56;

/// The shortest head of an entry that has all of it.
const LEAST_HEAD: usize = 64;

/// The PTX in an image that is a fat binary, for the newest GPU of all in it. `None`: it is no fat binary.
/// [`CudaError::NotSupported`], with a line that says why, for one without PTX.
///
/// # Safety
/// `image` must be an image as `cuModuleLoadData` and `cuModuleLoadFatBinary` take it, and outlive the result.
pub unsafe fn ptx<'a>(image: *const c_void) -> Result<Option<&'a [u8]>, CudaError> {
    // SAFETY: the caller's promise: what begins so has the rest.
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

/// The same of an image in a file, whose length is known: what its numbers say is held to that.
/// [`CudaError::InvalidImage`] where they say that there is more.
pub fn ptx_in(file: &[u8]) -> Result<Option<&[u8]>, CudaError> {
    if !file.starts_with(&MAGIC) {
        return Ok(None);
    }
    if file.len() < HEAD {
        return Err(CudaError::InvalidImage);
    }
    let image = file.as_ptr().cast();
    // SAFETY: the whole head is there.
    let (head, bytes) = unsafe { lengths(image) };
    let end = head.checked_add(bytes).filter(|&end| end <= file.len());
    let all = &file[head..end.ok_or(CudaError::InvalidImage)?];
    newest(entries(all)).map(Some)
}

/// Whether an image begins with these bytes, of which none is NUL. It is read as far as they are the same: a text may
/// be shorter.
///
/// # Safety
/// `image` must be readable up to its first NUL.
unsafe fn begins(image: *const c_void, with: [u8; 4]) -> bool {
    let mut bytes = with.into_iter().enumerate();
    // SAFETY: the caller's promise.
    bytes.all(|(place, byte)| unsafe { number::<u8>(image, place) } == byte)
}

/// One of the images in a fat binary.
#[derive(Clone, Copy)]
struct Entry<'a> {
    kind: u16,
    gpu: u32,
    is_compressed: bool,
    content: &'a [u8],
}

/// The bytes of a fat binary's head, and of all its entries.
///
/// # Safety
/// It has [`HEAD`] bytes at least.
unsafe fn lengths(image: *const c_void) -> (usize, usize) {
    // SAFETY: the caller's promise.
    unsafe {
        (
            number::<u16>(image, HEAD_BYTES).into(),
            number::<u64>(image, ALL_BYTES) as usize,
        )
    }
}

/// The entries of a fat binary, as far as they lie in it.
fn entries(mut rest: &[u8]) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    while rest.len() >= LEAST_HEAD {
        let start = rest.as_ptr().cast::<c_void>();
        // SAFETY: there are so many bytes.
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

/// A number at a place, aligned or not.
///
/// # Safety
/// It must be readable.
unsafe fn number<T: Copy>(at: *const c_void, place: usize) -> T {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<u8>().add(place).cast::<T>().read_unaligned() }
}
