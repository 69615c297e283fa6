//! The linker (`cuLink…`): combines PTX inputs into one, which serves as its "cubin".

use std::ffi::{CString, c_int, c_uint, c_void};
use std::sync::MutexGuard;

use cuda_sim::driver::{CudaError, check_source};
use cuda_sim::exec::is_device_function;
use cuda_sim::ptx::{self, LinkError};

use super::{SIMULATOR, fat_binary, module};
use crate::arguments::{In, Out, handle, number};
use crate::log::warn;
use crate::simulator::{Event, Link, Links, lock, require_current};
use crate::status::CallResult;
use crate::types::CUlinkState;

/// Types of inputs. Whatever the type, the simulator links PTX and the PTX in fat binaries.
const OBJECT: c_int = 3;
const LIBRARY: c_int = 4;
/// The largest type: LLVM bitcode.
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

/// Adds an input to a link. After an error of the linker itself, all later calls fail with it.
fn add_input(state: CUlinkState, kind: c_int, name: &str, bytes: &[u8]) -> Result<(), CudaError> {
    let mut links = links();
    let link = links.link(number(state))?;
    if !(0..=MAX_KIND).contains(&kind) || link.linked.is_some() || bytes.is_empty() {
        return Err(CudaError::InvalidValue);
    }
    if let Some(error) = link.failure {
        return Err(error);
    }
    let bytes = match fat_binary::ptx_in_file(bytes)? {
        Some(ptx) => ptx,
        None if fat_binary::is_cubin(bytes) => {
            let reason = "error   : the simulator links only PTX";
            return Err(reject(link, CudaError::NotSupported, reason));
        }
        None => bytes,
    };
    let bytes = bytes.split(|&byte| byte == 0).next().unwrap_or_default();
    let ptx = str::from_utf8(bytes).unwrap_or_default();
    if let Err(error) = check_source(ptx) {
        // As the driver does, ignores objects without code for the device.
        return match kind {
            OBJECT => Ok(()),
            LIBRARY => Err(reject(link, CudaError::Unknown, &error.log())),
            _ => Err(reject(link, error.code(), &error.log())),
        };
    }
    let input = (name.to_owned(), ptx.to_owned());
    // Check each input now, as the driver does, so that the error is that of this call.
    if let Err(error) = SIMULATOR.lock_driver()?.check_module(ptx) {
        let code = reject(link, error.code(), &error.log());
        links.assembly_failed = true;
        return Err(code);
    }
    link.inputs.push(input);
    if let Err(error) = ptx::check_definitions(&link.inputs) {
        return Err(fail(&mut links, state, &error));
    }
    if let Some(log) = &mut link.log {
        log.write("");
    }
    Ok(())
}

/// Reports an error of the linker, after which the link cannot be completed. Returns its code: once an input of any link
/// of the process has not assembled, the driver's is [`CudaError::Unknown`].
fn fail(links: &mut Links, state: CUlinkState, error: &LinkError) -> CudaError {
    let code = match links.assembly_failed {
        true => CudaError::Unknown,
        false => CudaError::InvalidSource,
    };
    match links.link(number(state)) {
        Ok(link) => {
            link.failure = Some(code);
            reject(link, code, &error.to_string())
        }
        Err(missing) => missing,
    }
}

/// Reports why an input does not link: in the caller's log, or on stderr if there is none. Returns the error.
fn reject(link: &mut Link, code: CudaError, reason: &str) -> CudaError {
    SIMULATOR.telemetry.emit(Event::ModuleRejected(reason));
    match &mut link.log {
        Some(log) => log.write(reason),
        None => warn(format_args!("linking failed: {reason}")),
    }
    code
}

/// `cuLinkComplete`.
pub fn complete(state: CUlinkState, out: Out<*mut c_void>, size: Option<Out<usize>>) -> CallResult {
    let mut links = links();
    let link = links.link(number(state))?;
    if link.linked.is_some() {
        return Err(CudaError::InvalidHandle.into());
    }
    if let Some(error) = link.failure {
        return Err(error.into());
    }
    let text = match ptx::link(&link.inputs, is_device_function) {
        Ok(text) => text,
        Err(error) => return Err(fail(&mut links, state, &error).into()),
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
