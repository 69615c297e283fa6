//! The linker (`cuLink…`): combines PTX inputs into one, which serves as its "cubin".

use std::ffi::{CString, c_int, c_uint, c_void};
use std::sync::MutexGuard;

use cuda_sim::driver::{CudaError, check_source};
use cuda_sim::ptx;
use cust_raw::CUlinkState;

use super::SIMULATOR;
use super::module;
use crate::arguments::{In, Out, handle, number};
use crate::log::warn;
use crate::simulator::{Event, Link, Links, lock, require_current};
use crate::status::CallResult;

/// `CU_JIT_INPUT_PTX`: the only supported input type. The others are machine code, and LLVM bitcode.
const PTX: c_int = 1;
/// The largest input type.
const MAX_KIND: c_int = 5;

fn links() -> MutexGuard<'static, Links> {
    lock(&SIMULATOR.tables.links)
}

/// `cuLinkCreate`.
pub fn create(
    count: c_uint,
    options: Option<In<c_int>>,
    values: Option<In<*mut c_void>>,
    state: Out<CUlinkState>,
) -> CallResult {
    // SAFETY: `options` and `values` have `count` elements, as `cuLinkCreate` requires. The caller keeps the
    // log's buffer until the link is destroyed.
    let log = unsafe { module::options(count, options, values) }?;
    require_current()?;
    state.set(handle(links().create(log)));
    Ok(())
}

/// `cuLinkAddData`. The options of single inputs concern the assembler and are ignored.
#[expect(clippy::too_many_arguments, reason = "they are C's")]
pub fn add(
    state: CUlinkState,
    kind: c_int,
    data: In<c_void>,
    size: usize,
    name: Option<&str>,
    _count: c_uint,
    _options: *mut c_int,
    _values: *mut *mut c_void,
) -> CallResult {
    // SAFETY: `data` has `size` bytes, as `cuLinkAddData` requires of its caller.
    let bytes = unsafe { std::slice::from_raw_parts(data.as_ptr().cast::<u8>(), size) };
    Ok(add_input(state, kind, name.unwrap_or("input"), bytes)?)
}

/// `cuLinkAddFile`.
pub fn add_file(
    state: CUlinkState,
    kind: c_int,
    path: &str,
    _count: c_uint,
    _options: *mut c_int,
    _values: *mut *mut c_void,
) -> CallResult {
    links().link(number(state))?;
    let bytes = module::read_file(path)?;
    Ok(add_input(state, kind, path, &bytes)?)
}

/// Adds an input to a link.
fn add_input(state: CUlinkState, kind: c_int, name: &str, bytes: &[u8]) -> Result<(), CudaError> {
    let mut links = links();
    let link = links.link(number(state))?;
    if !(0..=MAX_KIND).contains(&kind) || link.linked.is_some() {
        return Err(CudaError::InvalidValue);
    }
    if kind != PTX {
        return Err(reject(
            link,
            CudaError::NotSupported,
            "the simulator links only PTX",
        ));
    }
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let Ok(ptx) = str::from_utf8(bytes) else {
        return Err(reject(
            link,
            CudaError::InvalidImage,
            "the input is not text",
        ));
    };
    if let Err(error) = check_source(ptx) {
        return Err(reject(link, error.code(), &error.to_string()));
    }
    // Parse each input now, so that the error names it; later only the combination is known.
    let input = (name.to_owned(), ptx.to_owned());
    if let Err(error) = ptx::link(std::slice::from_ref(&input)) {
        return Err(reject(link, CudaError::InvalidPtx, &error.to_string()));
    }
    link.inputs.push(input);
    Ok(())
}

/// Reports why an input does not link: in the caller's log, or on stderr if there is none. Returns the error.
fn reject(link: &Link, code: CudaError, reason: &str) -> CudaError {
    SIMULATOR.telemetry.emit(Event::ModuleRejected(reason));
    match &link.log {
        Some(log) => log.write(reason),
        None => warn(format_args!("linking failed: {reason}")),
    }
    code
}

/// `cuLinkComplete`.
pub fn complete(state: CUlinkState, out: Out<*mut c_void>, size: Option<Out<usize>>) -> CallResult {
    let mut links = links();
    let link = links.link(number(state))?;
    let text = match ptx::link(&link.inputs) {
        Ok(text) => text,
        Err(error) => {
            return Err(reject(link, CudaError::InvalidImage, &error.to_string()).into());
        }
    };
    // A parsed text contains no NUL.
    let text = link.linked.insert(CString::new(text).unwrap_or_default());
    out.set(text.as_ptr().cast_mut().cast());
    Out::set_optional(size, text.as_bytes_with_nul().len());
    Ok(())
}

/// `cuLinkDestroy`.
pub fn destroy(state: CUlinkState) -> CallResult {
    Ok(links().destroy(number(state))?)
}
