//! Arguments of C functions: the types that the implementations take, and their conversion from C. The macro
//! that generates the C functions converts each argument to the type that the implementation declares, so that
//! implementations need not trust a pointer themselves.
//!
//! A type that cannot be null, such as [`Out`], rejects a null pointer before the implementation runs; for a
//! pointer that may be null, or that the implementation checks only after other arguments, it takes an
//! [`Option`] of the type, and [`required`] rejects null.

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::NonNull;

use cuda_sim::driver::{ContextId, CudaError, EventId, KernelId, LibraryId, ModuleId, StreamId};

use crate::simulator::{ExecId, GraphId, NodeId, Stream};
use crate::types::external::{BufferDescription, HandleDescription, SemaphoreDescription};
use crate::types::graph::{BatchNodeParams, EdgeData, InstantiateParams, KernelNodeParams};
use crate::types::{
    AccessWindow, CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR, CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY2D, CUDA_MEMCPY3D,
    CUDA_MEMCPY3D_PEER, CUDA_MEMSET_NODE_PARAMS, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC, CUcontext, CUctxCreateParams, CUdevResource, CUevent, CUgraph, CUgraphExec,
    CUgraphNode, CUkernel, CUlaunchAttributeValue, CUlaunchConfig, CUlibrary, CUmemAccessDesc,
    CUmemAllocationProp, CUmemLocation, CUmemPoolProps, CUmodule, CUstream, CUtensorMap,
    MemcpyAttributes, MemcpyBatchOp, MemoryOperation, ShareableHandle,
};

/// A type that an implementation takes for an argument of the C type `C`.
pub trait Argument<C>: Sized {
    /// Converts an argument. Returns [`CudaError::InvalidValue`] for one that the type excludes.
    ///
    /// # Safety
    /// `argument` must meet the requirements of the C function: a pointer must be null, or valid for the
    /// documented access until the call returns.
    unsafe fn from_c(argument: C) -> Result<Self, CudaError>;
}

/// Numbers, and pointers and handles that the implementation only passes on.
impl<T> Argument<T> for T {
    #[inline]
    unsafe fn from_c(argument: T) -> Result<Self, CudaError> {
        Ok(argument)
    }
}

/// Returns an argument that may not be null, or [`CudaError::InvalidValue`].
pub fn required<T>(argument: Option<T>) -> Result<T, CudaError> {
    argument.ok_or(CudaError::InvalidValue)
}

/// A pointer to room for a result.
pub struct Out<T>(NonNull<T>);

impl<T> Out<T> {
    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: the C function requires that a result can be written here, and this is its type.
        unsafe { self.0.as_ptr().write(value) }
    }

    /// Writes a result that the caller need not request.
    pub fn set_optional(out: Option<Self>, value: T) {
        if let Some(out) = out {
            out.set(value);
        }
    }

    /// Writes results to consecutive elements.
    ///
    /// # Safety
    /// The caller must have room for all values.
    pub unsafe fn set_all(self, values: impl IntoIterator<Item = T>) {
        for (i, value) in values.into_iter().enumerate() {
            // SAFETY: there is room for all values, by this function's contract.
            unsafe { self.0.as_ptr().add(i).write(value) }
        }
    }

    /// Returns the pointer.
    pub fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl Out<c_void> {
    /// Writes a result of the type that another argument selects.
    ///
    /// # Safety
    /// The caller must have room for a `T`.
    pub unsafe fn set_as<T>(self, value: T) {
        Out(self.0.cast::<T>()).set(value);
    }

    /// Writes results of the type that another argument selects to consecutive elements.
    ///
    /// # Safety
    /// The caller must have room for all values.
    pub unsafe fn set_all_as<T>(self, values: impl IntoIterator<Item = T>) {
        // SAFETY: there is room for all values, by this function's contract.
        unsafe { Out(self.0.cast::<T>()).set_all(values) }
    }
}

impl Out<c_char> {
    /// Writes a text and a NUL, truncated to `capacity` bytes, which must not be 0.
    ///
    /// # Safety
    /// The caller must have room for `capacity` bytes.
    pub unsafe fn set_text(self, capacity: usize, text: &[u8]) {
        let length = text.len().min(capacity - 1);
        let text = text[..length].iter().chain(&[0]);
        // SAFETY: `length` bytes and the NUL are at most `capacity` bytes.
        unsafe { self.set_all(text.map(|&byte| byte as c_char)) }
    }
}

/// A type of which every bit pattern is a value, so that anything a C program passes can be read.
///
/// # Safety
/// The type must have no invalid bit pattern: no `bool`, no Rust enum, no reference.
pub unsafe trait Plain: Copy {}

/// Generates the implementations for types that consist of integers and raw pointers.
macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        // SAFETY: every bit pattern is an integer or a pointer, although not one that can be dereferenced.
        unsafe impl Plain for $type {}
    )*};
}

plain!(
    c_int,
    c_uint,
    c_ulonglong,
    usize,
    AccessWindow,
    CUctxCreateParams,
    CUdevResource,
    CUlaunchAttributeValue,
    CUlaunchConfig,
    CUmemAccessDesc,
    CUmemAllocationProp,
    CUmemLocation,
    CUtensorMap,
    ShareableHandle,
    BufferDescription,
    HandleDescription,
    SemaphoreDescription,
    CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEMSET_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY2D,
    CUDA_MEMCPY3D,
    CUDA_MEMCPY3D_PEER,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
    CUmemPoolProps,
    BatchNodeParams,
    EdgeData,
    KernelNodeParams,
    InstantiateParams,
    MemcpyAttributes,
    MemcpyBatchOp,
    MemoryOperation,
);
// SAFETY: every bit pattern is a pointer, although not one that can be dereferenced.
unsafe impl<T> Plain for *mut T {}

/// A pointer to an input, or to the first of several.
pub struct In<T>(NonNull<T>);

impl<T> In<T> {
    /// Returns the pointer. It is readable until the call returns.
    pub fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }

    /// Returns the input as one of another type.
    ///
    /// # Safety
    /// `U` must have the layout of `T`.
    pub unsafe fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }
}

impl<T: Plain> In<T> {
    /// Reads the input.
    pub fn read(&self) -> T {
        // SAFETY: the C function requires that its input can be read, and every bit pattern is a `T`.
        unsafe { self.0.read() }
    }

    /// Reads `count` inputs.
    ///
    /// # Safety
    /// `count` must be the number of elements that the C function's caller states.
    pub unsafe fn read_all(&self, count: usize) -> Vec<T> {
        // SAFETY: the caller passes `count` elements, by this function's contract, and every bit pattern is a
        // `T`.
        (0..count)
            .map(|i| unsafe { self.0.add(i).read() })
            .collect()
    }
}

impl In<c_void> {
    /// Reads an input of the type that another argument selects.
    ///
    /// # Safety
    /// The caller must have passed a `T`.
    pub unsafe fn read_as<T: Plain>(&self) -> T {
        In(self.0.cast::<T>()).read()
    }
}

/// A pointer to a value that is both an input and a result.
pub struct InOut<T>(NonNull<T>);

impl<T> Clone for InOut<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InOut<T> {}

impl<T> InOut<T> {
    /// Returns the pointer.
    pub fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Plain> InOut<T> {
    /// Reads the input.
    pub fn read(&self) -> T {
        // SAFETY: the C function requires that its input can be read, and every bit pattern is a `T`.
        unsafe { self.0.read() }
    }

    /// Writes the result.
    pub fn set(self, value: T) {
        // SAFETY: the C function requires that a result can be written here.
        unsafe { self.0.write(value) }
    }
}

/// Generates the conversions of pointers: null is rejected, or `None`.
macro_rules! pointers {
    ($($c:ty => $pointer:ident,)*) => {$(
        impl<T> Argument<$c> for $pointer<T> {
            #[inline]
            unsafe fn from_c(argument: $c) -> Result<Self, CudaError> {
                required(NonNull::new(argument as *mut T).map(Self))
            }
        }

        impl<T> Argument<$c> for Option<$pointer<T>> {
            #[inline]
            unsafe fn from_c(argument: $c) -> Result<Self, CudaError> {
                Ok(NonNull::new(argument as *mut T).map($pointer))
            }
        }
    )*};
}

pointers! {
    *mut T => Out,
    *const T => In,
    *mut T => In,
    *mut T => InOut,
}

/// Memory of the program, of which the C function requires the range and the lifetime.
#[derive(Clone, Copy)]
pub struct HostMemory(*mut c_void);

impl Argument<*const c_void> for HostMemory {
    #[inline]
    unsafe fn from_c(argument: *const c_void) -> Result<Self, CudaError> {
        Ok(Self(argument.cast_mut()))
    }
}

impl Argument<*mut c_void> for HostMemory {
    #[inline]
    unsafe fn from_c(argument: *mut c_void) -> Result<Self, CudaError> {
        Ok(Self(argument))
    }
}

impl HostMemory {
    /// Returns the pointer as the simulator takes it.
    pub fn as_ptr(self) -> *mut u8 {
        self.0.cast()
    }
}

/// A NUL-terminated text in UTF-8.
impl<'a> Argument<*const c_char> for &'a str {
    unsafe fn from_c(argument: *const c_char) -> Result<Self, CudaError> {
        // SAFETY: the requirements are the same.
        required(unsafe { Option::<&'a str>::from_c(argument) }?)
    }
}

impl<'a> Argument<*const c_char> for Option<&'a str> {
    unsafe fn from_c(argument: *const c_char) -> Result<Self, CudaError> {
        if argument.is_null() {
            return Ok(None);
        }
        // SAFETY: the argument is not null, so the C function requires a NUL-terminated text, which the caller
        // keeps until the call returns.
        let text: &'a CStr = unsafe { CStr::from_ptr(argument) };
        text.to_str().map(Some).map_err(|_| CudaError::InvalidValue)
    }
}

/// `CU_STREAM_LEGACY`: an explicit handle to the legacy default stream.
const LEGACY: u64 = 1;
/// `CU_STREAM_PER_THREAD`: the calling thread's default stream.
const PER_THREAD: u64 = 2;

impl From<CUstream> for Stream {
    fn from(handle: CUstream) -> Self {
        match number(handle) {
            0 => Self::default_of_call(),
            LEGACY => Self::Id(StreamId::LEGACY),
            PER_THREAD => Self::PerThread,
            number => Self::Id(StreamId(number)),
        }
    }
}

impl Argument<CUstream> for Stream {
    unsafe fn from_c(argument: CUstream) -> Result<Self, CudaError> {
        Ok(argument.into())
    }
}

/// A context; `None` for a null handle.
impl Argument<CUcontext> for Option<ContextId> {
    unsafe fn from_c(argument: CUcontext) -> Result<Self, CudaError> {
        Ok(context(argument))
    }
}

/// Generates the conversion of handles to the numbers of objects, which the implementation looks up.
macro_rules! handles {
    ($($handle:ty => $id:ident,)*) => {$(
        impl Argument<$handle> for $id {
            unsafe fn from_c(argument: $handle) -> Result<Self, CudaError> {
                Ok($id(number(argument)))
            }
        }
    )*};
}

handles! {
    CUevent => EventId,
    CUmodule => ModuleId,
    CUlibrary => LibraryId,
    CUkernel => KernelId,
    CUgraph => GraphId,
    CUgraphNode => NodeId,
    CUgraphExec => ExecId,
}

/// Reads a list of handles or structures.
///
/// # Safety
/// `list` must be null or have `count` elements.
pub unsafe fn read_list<T: Plain>(list: Option<In<T>>, count: usize) -> Result<Vec<T>, CudaError> {
    match count {
        0 => Ok(Vec::new()),
        // SAFETY: `list` has `count` elements, by this function's contract.
        _ => Ok(unsafe { required(list)?.read_all(count) }),
    }
}

/// Returns the context of a handle; `None` for a null handle.
pub fn context(handle: CUcontext) -> Option<ContextId> {
    (!handle.is_null()).then(|| ContextId(number(handle)))
}

/// Converts a handle's number to the pointer that C sees. It is never dereferenced.
pub fn handle<T>(number: u64) -> *mut T {
    std::ptr::without_provenance_mut(number as usize)
}

/// Returns the number of a handle.
pub fn number<T>(handle: *mut T) -> u64 {
    handle.addr() as u64
}
