//! The errors of the simulated driver, with the CUDA driver API's codes (`CUresult`).

use thiserror::Error;

use crate::check::{Reason, reason};
use crate::memory::global::{AlreadyMapped, NotAllocated, OutOfMemory};

/// A `CUresult` other than success. The message is its C name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[repr(i32)]
pub enum CudaError {
    /// An argument is out of range.
    #[error("CUDA_ERROR_INVALID_VALUE")]
    InvalidValue = 1,
    /// The device or the host is out of memory.
    #[error("CUDA_ERROR_OUT_OF_MEMORY")]
    OutOfMemory = 2,
    /// `cuInit` was not called.
    #[error("CUDA_ERROR_NOT_INITIALIZED")]
    NotInitialized = 3,
    /// There is no CUDA device.
    #[error("CUDA_ERROR_NO_DEVICE")]
    NoDevice = 100,
    /// No device has this ordinal.
    #[error("CUDA_ERROR_INVALID_DEVICE")]
    InvalidDevice = 101,
    /// The image to load is not a module.
    #[error("CUDA_ERROR_INVALID_IMAGE")]
    InvalidImage = 200,
    /// No context is current, or the handle is not a context's.
    #[error("CUDA_ERROR_INVALID_CONTEXT")]
    InvalidContext = 201,
    /// Memory or an object of another process cannot be mapped.
    #[error("CUDA_ERROR_MAP_FAILED")]
    MapFailed = 205,
    /// The device does not support this limit.
    #[error("CUDA_ERROR_UNSUPPORTED_LIMIT")]
    UnsupportedLimit = 215,
    /// The two devices cannot access each other's memory.
    #[error("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED")]
    PeerAccessUnsupported = 217,
    /// The PTX does not assemble.
    #[error("CUDA_ERROR_INVALID_PTX")]
    InvalidPtx = 218,
    /// The PTX version is newer than this driver supports.
    #[error("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")]
    UnsupportedPtxVersion = 222,
    /// Work cannot be restricted to some of a device's SMs.
    #[error("CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY")]
    UnsupportedExecAffinity = 224,
    /// The linker has found an undefined or a duplicate name.
    #[error("CUDA_ERROR_INVALID_SOURCE")]
    InvalidSource = 300,
    /// The file does not exist.
    #[error("CUDA_ERROR_FILE_NOT_FOUND")]
    FileNotFound = 301,
    /// A call to the operating system failed.
    #[error("CUDA_ERROR_OPERATING_SYSTEM")]
    OperatingSystem = 304,
    /// The handle does not refer to a live object of this kind.
    #[error("CUDA_ERROR_INVALID_HANDLE")]
    InvalidHandle = 400,
    /// The object is in a state that does not allow the operation.
    #[error("CUDA_ERROR_ILLEGAL_STATE")]
    IllegalState = 401,
    /// The module has no such kernel or variable.
    #[error("CUDA_ERROR_NOT_FOUND")]
    NotFound = 500,
    /// The event or the work has not completed yet.
    #[error("CUDA_ERROR_NOT_READY")]
    NotReady = 600,
    /// A kernel accessed memory that is not allocated.
    #[error("CUDA_ERROR_ILLEGAL_ADDRESS")]
    IllegalAddress = 700,
    /// The launch needs more resources than an SM has.
    #[error("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")]
    LaunchOutOfResources = 701,
    /// The kernel exceeded the time limit.
    #[error("CUDA_ERROR_LAUNCH_TIMEOUT")]
    LaunchTimeout = 702,
    /// Peer access to the other context is already enabled.
    #[error("CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED")]
    PeerAccessAlreadyEnabled = 704,
    /// Peer access to the other context is not enabled.
    #[error("CUDA_ERROR_PEER_ACCESS_NOT_ENABLED")]
    PeerAccessNotEnabled = 705,
    /// The current context was destroyed.
    #[error("CUDA_ERROR_CONTEXT_IS_DESTROYED")]
    ContextIsDestroyed = 709,
    /// A device-side `assert` failed.
    #[error("CUDA_ERROR_ASSERT")]
    Assert = 710,
    /// The host memory is already registered.
    #[error("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED")]
    HostMemoryAlreadyRegistered = 712,
    /// The host memory is not registered.
    #[error("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED")]
    HostMemoryNotRegistered = 713,
    /// A kernel exceeded its stack.
    #[error("CUDA_ERROR_HARDWARE_STACK_ERROR")]
    HardwareStackError = 714,
    /// A kernel executed an invalid instruction.
    #[error("CUDA_ERROR_ILLEGAL_INSTRUCTION")]
    IllegalInstruction = 715,
    /// A kernel's load or store was not aligned to its size.
    #[error("CUDA_ERROR_MISALIGNED_ADDRESS")]
    MisalignedAddress = 716,
    /// A kernel used an address of the wrong state space.
    #[error("CUDA_ERROR_INVALID_ADDRESS_SPACE")]
    InvalidAddressSpace = 717,
    /// A kernel called an address that is not a function.
    #[error("CUDA_ERROR_INVALID_PC")]
    InvalidPc = 718,
    /// A kernel failed in a way that has no code of its own.
    #[error("CUDA_ERROR_LAUNCH_FAILED")]
    LaunchFailed = 719,
    /// A cooperative launch has more blocks than the device can hold at once.
    #[error("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE")]
    CooperativeLaunchTooLarge = 720,
    /// The call was made in a stream callback, which may not call the driver.
    #[error("CUDA_ERROR_NOT_PERMITTED")]
    NotPermitted = 800,
    /// The operation is not simulated.
    #[error("CUDA_ERROR_NOT_SUPPORTED")]
    NotSupported = 801,
    /// The operation is not allowed while a stream is being captured.
    #[error("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED")]
    StreamCaptureUnsupported = 900,
    /// An earlier error has invalidated the capture.
    #[error("CUDA_ERROR_STREAM_CAPTURE_INVALIDATED")]
    StreamCaptureInvalidated = 901,
    /// The operation would merge two captures.
    #[error("CUDA_ERROR_STREAM_CAPTURE_MERGE")]
    StreamCaptureMerge = 902,
    /// The capture was not started in this stream.
    #[error("CUDA_ERROR_STREAM_CAPTURE_UNMATCHED")]
    StreamCaptureUnmatched = 903,
    /// The capture contains work of another stream that was not joined to the capture's stream.
    #[error("CUDA_ERROR_STREAM_CAPTURE_UNJOINED")]
    StreamCaptureUnjoined = 904,
    /// Captured work would depend on work that is not captured.
    #[error("CUDA_ERROR_STREAM_CAPTURE_ISOLATION")]
    StreamCaptureIsolation = 905,
    /// The operation would make the legacy default stream depend on a capturing stream.
    #[error("CUDA_ERROR_STREAM_CAPTURE_IMPLICIT")]
    StreamCaptureImplicit = 906,
    /// The event was last recorded in a capture, so it never completes.
    #[error("CUDA_ERROR_CAPTURED_EVENT")]
    CapturedEvent = 907,
    /// The capture was started by another thread.
    #[error("CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD")]
    StreamCaptureWrongThread = 908,
    /// An executable graph cannot be updated to this graph.
    #[error("CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE")]
    GraphExecUpdateFailure = 910,
    /// The size of a cluster is larger than the device or the kernel allows.
    #[error("CUDA_ERROR_INVALID_CLUSTER_SIZE")]
    InvalidClusterSize = 912,
    /// The type of a resource is unknown or not valid here.
    #[error("CUDA_ERROR_INVALID_RESOURCE_TYPE")]
    InvalidResourceType = 914,
    /// A resource cannot be divided as requested.
    #[error("CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION")]
    InvalidResourceConfiguration = 915,
    /// The simulator itself failed.
    #[error("CUDA_ERROR_UNKNOWN")]
    Unknown = 999,
}

impl CudaError {
    /// Notes the reason for this error, for reports of failed calls. Returns the error.
    pub fn because(self, reason: Reason) -> Self {
        reason::note(reason);
        self
    }

    /// Returns the error as a `CUresult` number.
    pub fn code(self) -> i32 {
        self as i32
    }
}

impl From<OutOfMemory> for CudaError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory.because(Reason::OutOfMemory(error.requested, error.free))
    }
}

impl From<NotAllocated> for CudaError {
    fn from(_: NotAllocated) -> Self {
        Self::InvalidValue
    }
}

impl From<AlreadyMapped> for CudaError {
    fn from(_: AlreadyMapped) -> Self {
        Self::HostMemoryAlreadyRegistered
    }
}
