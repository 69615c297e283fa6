//! Attributes of core dumps: settings that programs can store and read. The simulator writes no core dumps; it reports a
//! fault with its cause instead.

use std::ffi::{c_int, c_void};

use cuda_sim::driver::{ContextId, CudaError};

use super::SIMULATOR;
use crate::arguments::{In, InOut, Out};
use crate::simulator::{lock, require_current};
use crate::status::CallResult;

/// The attributes with the names of the file and of the pipe (`CUcoredumpSettings`), which are texts.
const FILE: c_int = 5;
const PIPE: c_int = 6;

/// The maximum length of a file name, with its NUL.
const MAX_TEXT: usize = 1024;

/// Returns the default value of a `CUcoredumpSettings`.
fn default_value(attribute: c_int) -> Result<Vec<u8>, CudaError> {
    Ok(match attribute {
        // On an exception; lightweight; by the user.
        1 | 3 | 4 => vec![0],
        // Also of the host's process.
        2 => vec![1],
        FILE => b"core.cuda.%h.%p\0".to_vec(),
        PIPE => b"corepipe.cuda.%h.%p\0".to_vec(),
        // Generation flags.
        7 => vec![0; 4],
        _ => return Err(CudaError::InvalidValue),
    })
}

/// `cuCoredumpGetAttribute`.
pub fn attribute(attribute: c_int, value: Option<Out<c_void>>, size: InOut<usize>) -> CallResult {
    write(Some(require_current()?), attribute, value, size)
}

/// `cuCoredumpGetAttributeGlobal`.
pub fn global_attribute(
    attribute: c_int,
    value: Option<Out<c_void>>,
    size: InOut<usize>,
) -> CallResult {
    write(None, attribute, value, size)
}

/// `cuCoredumpSetAttribute`.
pub fn set_attribute(attribute: c_int, value: In<c_void>, size: InOut<usize>) -> CallResult {
    store(Some(require_current()?), attribute, &value, size.read())
}

/// `cuCoredumpSetAttributeGlobal`.
pub fn set_global_attribute(attribute: c_int, value: In<c_void>, size: InOut<usize>) -> CallResult {
    store(None, attribute, &value, size.read())
}

/// Writes an attribute and its size. Without room for the value, writes only the size.
fn write(
    context: Option<ContextId>,
    attribute: c_int,
    value: Option<Out<c_void>>,
    size: InOut<usize>,
) -> CallResult {
    let default = default_value(attribute)?;
    let settings = lock(&SIMULATOR.tables.core_dump_settings);
    let stored = settings.get(&(context, attribute));
    let stored = stored.or_else(|| settings.get(&(None, attribute)));
    let bytes = stored.unwrap_or(&default);
    if let Some(value) = value {
        if size.read() < bytes.len() {
            return Err(CudaError::InvalidValue.into());
        }
        // SAFETY: the value has the size that the C function's caller states, which is enough.
        unsafe { value.set_all_as(bytes.iter().copied()) };
    }
    size.set(bytes.len());
    Ok(())
}

/// Stores an attribute of a context, or of the process.
fn store(
    context: Option<ContextId>,
    attribute: c_int,
    value: &In<c_void>,
    size: usize,
) -> CallResult {
    let default = default_value(attribute)?;
    let is_text = matches!(attribute, FILE | PIPE);
    let is_valid = match is_text {
        true => (1..=MAX_TEXT).contains(&size),
        false => size >= default.len(),
    };
    if !is_valid {
        return Err(CudaError::InvalidValue.into());
    }
    let count = if is_text { size } else { default.len() };
    // SAFETY: the value has at least `count` bytes, as the C function requires of its caller.
    let bytes = unsafe { std::slice::from_raw_parts(value.as_ptr().cast::<u8>(), count) };
    let mut bytes = bytes.to_vec();
    if is_text {
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(count));
        bytes.push(0);
    }
    lock(&SIMULATOR.tables.core_dump_settings).insert((context, attribute), bytes);
    Ok(())
}
