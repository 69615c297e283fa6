//! The CUDA driver API, simulated, as safe Rust: contexts, memory, copies, streams, events,
//! modules and launches, each checked and refused as NVIDIA's driver would.
//!
//! A [`Driver`] is one machine with one GPU. Work is done at the call; what it would have cost and
//! overlapped with is kept on a [`timeline`]. Most calls name the context they act in, which the
//! caller takes from its [`Thread`]. After a kernel has faulted, every call in its context answers
//! with that fault until the context is destroyed.

mod attribute;
mod context;
mod copy;
mod error;
mod event;
mod fill;
mod function;
mod handle;
mod host;
mod launch;
mod memory;
mod module;
mod occupancy;
mod stream;
pub mod timeline;

use std::collections::BTreeMap;
use std::time::Duration;

pub use context::{Limit, Thread};
pub use copy::{Copy, Memory, Place};
pub use error::CudaError;
pub use fill::{Fill, Value};
pub use handle::{ContextId, EventId, FunctionId, ModuleId, StreamId};
pub use launch::{LaunchConfig, Launched};
pub use module::ModuleError;
pub use occupancy::Occupancy;
pub use stream::PRIORITIES;

use crate::check::{Checks, Finding};
use crate::device::DeviceSpec;
use crate::memory::global::Global;

/// The simulated driver and the machine under it.
pub struct Driver {
    device: DeviceSpec,
    global: Global,
    time_limit: Option<Duration>,
    checks: Checks,
    /// What was still allocated when contexts went, not yet taken.
    leaks: Vec<Finding>,
    handles: handle::Handles,
    contexts: BTreeMap<ContextId, context::Context>,
    primary: context::Primary,
    modules: BTreeMap<ModuleId, module::Module>,
    functions: BTreeMap<FunctionId, module::Function>,
    streams: BTreeMap<StreamId, stream::Stream>,
    events: BTreeMap<EventId, event::Event>,
}

impl Driver {
    /// A machine with one `device`. A launch that runs longer than `time_limit` is ended.
    ///
    /// The device has the memory of its model, but at most half of what the host has: device
    /// memory is host memory here, and most programs keep a host copy of what they send there.
    pub fn new(device: DeviceSpec, time_limit: Option<Duration>) -> Self {
        let capacity = device.memory_bytes.min(host::memory() / 2);
        Self {
            global: Global::new(capacity),
            device,
            time_limit,
            checks: Checks::NONE,
            leaks: Vec::new(),
            handles: handle::Handles::new(),
            contexts: BTreeMap::new(),
            primary: context::Primary::default(),
            modules: BTreeMap::new(),
            functions: BTreeMap::new(),
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
        }
    }

    /// From now on launches are looked at for this. Which bytes are written is known of memory
    /// allocated while [`Checks::init`] is on; all other memory counts as written.
    pub fn check(&mut self, checks: Checks) {
        self.checks = checks;
    }

    /// The GPU.
    pub fn device(&self) -> &DeviceSpec {
        &self.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `store` writes value + thread index at address + 4 × thread index; `bounded` takes at most
    /// 64 threads and declares 256 bytes of shared memory; `endless` does not end.
    pub(super) const PTX: &str = "
        .version 6.4
        .target sm_52
        .address_size 64
        .visible .const .align 4 .b8 factor[4];
        .visible .global .align 4 .b8 table[64];
        .shared .align 4 .b8 tile[256];

        .visible .entry store(.param .u64 address, .param .u32 value)
        {
            .reg .b32 %r<4>;
            .reg .b64 %rd<4>;
            ld.param.u64 %rd1, [address];
            ld.param.u32 %r1, [value];
            cvta.to.global.u64 %rd2, %rd1;
            mov.u32 %r2, %tid.x;
            mul.wide.u32 %rd3, %r2, 4;
            add.s64 %rd2, %rd2, %rd3;
            add.s32 %r3, %r1, %r2;
            st.global.u32 [%rd2], %r3;
            ret;
        }

        .visible .entry bounded()
        .maxntid 64, 1, 1
        {
            .reg .b32 %r<2>;
            mov.u32 %r1, tile;
            st.shared.u32 [%r1], %r1;
            ret;
        }

        .visible .entry endless()
        {
        again:
            bra again;
        }
    ";

    /// A driver with a current context.
    pub(super) fn driver() -> (Driver, ContextId) {
        let mut driver = Driver::new(DeviceSpec::h200(), None);
        let context = driver.retain_primary();
        (driver, context)
    }
}
