//! Events and memory pools that several processes use. Their state is in files in memory that the processes map or
//! identify.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cuda_sim::driver::{CudaError, EventId};
use cuda_sim::memory::shared::{FileAddress, FileId, SharedFile, SharedMapping};

use super::lock;
use super::operation::StreamOp;
use crate::status::warn;

/// The name of the files of events.
const EVENT: &str = "event";
/// The name of the files of pools, without the device.
const POOL: &str = "pool-";
/// The length of both files: one page.
const FILE_BYTES: u64 = 4096;

/// The state of an event in the memory that processes share. Recordings are numbered from 1 in the order of the calls
/// that submit them.
#[repr(C)]
struct EventState {
    /// The number of the last recording that was submitted.
    submitted: AtomicU64,
    /// The greatest number of a recording that has completed.
    completed: AtomicU64,
    /// The process that has submitted the last recording.
    recorder: AtomicU32,
}

/// An event that several processes use.
pub struct SharedEvent {
    mapping: SharedMapping,
}

/// One recording of a shared event.
#[derive(Clone)]
pub struct Recording {
    event: Arc<SharedEvent>,
    number: u64,
}

impl SharedEvent {
    /// The time between two polls of an event that is almost complete, and the maximum time.
    const FIRST_PAUSE: Duration = Duration::from_micros(20);
    const LAST_PAUSE: Duration = Duration::from_micros(500);
    /// The time between two checks that the process that records an event still exists.
    const CHECK_INTERVAL: Duration = Duration::from_millis(100);

    fn create() -> Option<Self> {
        let mapping = SharedFile::new(EVENT, FILE_BYTES)?.map()?;
        Some(Self { mapping })
    }

    /// Opens the event of another process.
    fn open(address: &FileAddress) -> Option<Self> {
        let file = SharedFile::open(address)?;
        let is_event = file.name() == EVENT && file.bytes() == FILE_BYTES;
        let mapping = is_event.then(|| file.map()).flatten()?;
        Some(Self { mapping })
    }

    fn state(&self) -> &EventState {
        // SAFETY: the mapping is as long as a page, page-aligned, lives as long as `self`, and all processes access it
        // through atomics only. Every bit pattern is a state.
        unsafe { &*self.mapping.start.cast() }
    }

    /// Returns the last recording; all earlier ones need not have completed when it has.
    fn last_recording(self: &Arc<Self>) -> Recording {
        Recording {
            event: self.clone(),
            number: self.state().submitted.load(Ordering::Acquire),
        }
    }

    /// Submits a recording.
    fn record(self: &Arc<Self>) -> Recording {
        let state = self.state();
        state.recorder.store(std::process::id(), Ordering::Release);
        Recording {
            event: self.clone(),
            number: state.submitted.fetch_add(1, Ordering::AcqRel) + 1,
        }
    }
}

impl Recording {
    /// Marks the recording as complete.
    pub fn complete(&self) {
        let completed = &self.event.state().completed;
        completed.fetch_max(self.number, Ordering::AcqRel);
    }

    /// Returns true if the recording, or a later one, has completed.
    pub fn is_complete(&self) -> bool {
        self.event.state().completed.load(Ordering::Acquire) >= self.number
    }

    /// Waits for the recording. Returns early if the process that was to complete it has ended.
    pub fn wait(&self) {
        let mut pause = SharedEvent::FIRST_PAUSE;
        let mut checked = Instant::now();
        while !self.is_complete() {
            std::thread::sleep(pause);
            pause = (2 * pause).min(SharedEvent::LAST_PAUSE);
            if checked.elapsed() > SharedEvent::CHECK_INTERVAL {
                checked = Instant::now();
                let recorder = self.event.state().recorder.load(Ordering::Acquire);
                if !is_running(recorder) && !self.is_complete() {
                    warn(format_args!(
                        "process {recorder} has ended before an event that it records was complete; the wait for the event ends"
                    ));
                    self.complete();
                }
            }
        }
    }
}

/// Returns true if a process exists and has not ended, also if its parent has not waited for it yet.
fn is_running(process: u32) -> bool {
    Path::new(&format!("/proc/{process}/exe"))
        .read_link()
        .is_ok()
}

/// The events of this process that other processes may use.
pub struct SharedEvents {
    /// True once there was one: programs without them skip the lookups.
    any: AtomicBool,
    events: Mutex<BTreeMap<EventId, Arc<SharedEvent>>>,
}

impl SharedEvents {
    pub const fn new() -> Self {
        Self {
            any: AtomicBool::new(false),
            events: Mutex::new(BTreeMap::new()),
        }
    }

    fn find(&self, event: EventId) -> Option<Arc<SharedEvent>> {
        match self.any.load(Ordering::Relaxed) {
            true => lock(&self.events).get(&event).cloned(),
            false => None,
        }
    }

    /// Shares an event of which no recording is pending, unless it is shared already. Returns the address of its file. Fails
    /// with [`CudaError::OutOfMemory`] if the host is out of memory or file descriptors.
    pub fn share(&self, event: EventId) -> Result<FileAddress, CudaError> {
        let mut events = lock(&self.events);
        if let Some(shared) = events.get(&event) {
            return Ok(shared.mapping.file.address());
        }
        let shared = SharedEvent::create().ok_or(CudaError::OutOfMemory)?;
        let address = shared.mapping.file.address();
        events.insert(event, Arc::new(shared));
        self.any.store(true, Ordering::Relaxed);
        Ok(address)
    }

    /// Opens the event of another process. `create` creates the event of this process.
    pub fn open(
        &self,
        address: &FileAddress,
        create: impl FnOnce() -> Result<EventId, CudaError>,
    ) -> Result<EventId, CudaError> {
        let shared = SharedEvent::open(address).ok_or(CudaError::MapFailed)?;
        let event = create()?;
        lock(&self.events).insert(event, Arc::new(shared));
        self.any.store(true, Ordering::Relaxed);
        Ok(event)
    }

    /// Removes an event that the program has destroyed. Pending operations still complete it.
    pub fn remove(&self, event: EventId) {
        if self.any.load(Ordering::Relaxed) {
            lock(&self.events).remove(&event);
        }
    }

    /// Returns the last recording of an event; `None` if it is not shared.
    pub fn last_recording(&self, event: EventId) -> Option<Recording> {
        Some(self.find(event)?.last_recording())
    }

    /// Returns the recordings that an operation waits for, and those that it submits.
    pub fn of_operation(&self, op: &StreamOp) -> [Vec<Recording>; 2] {
        if !self.any.load(Ordering::Relaxed) {
            return Default::default();
        }
        let find = |event: EventId| self.find(event);
        let awaited = op.awaited_events().into_iter().filter_map(find);
        let awaited = awaited.map(|event| event.last_recording());
        let awaited = awaited.filter(|recording| !recording.is_complete());
        let recorded = op.recorded_events().into_iter().filter_map(find);
        [
            awaited.collect(),
            recorded.map(|event| event.record()).collect(),
        ]
    }
}

/// The pools that processes share.
pub struct SharedPools(Mutex<BTreeMap<u64, SharedPool>>);

/// A pool that other processes can import, or one of another process.
struct SharedPool {
    /// The file that identifies the pool.
    file: SharedFile,
    is_imported: bool,
}

impl SharedPools {
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Makes a pool of a device shareable. Fails with [`CudaError::OutOfMemory`] if the host is out of memory or file
    /// descriptors.
    pub fn share(&self, pool: u64, device: u32) -> Result<(), CudaError> {
        let file = SharedFile::new(&format!("{POOL}{device}"), FILE_BYTES);
        let file = file.ok_or(CudaError::OutOfMemory)?;
        self.insert(pool, file, false);
        Ok(())
    }

    fn insert(&self, pool: u64, file: SharedFile, is_imported: bool) {
        lock(&self.0).insert(pool, SharedPool { file, is_imported });
    }

    /// Returns a file descriptor of a pool, which the caller owns. Fails with [`CudaError::InvalidValue`] if the pool is not
    /// shareable.
    pub fn export(&self, pool: u64) -> Result<i32, CudaError> {
        let pools = lock(&self.0);
        let pool = pools.get(&pool).filter(|pool| !pool.is_imported);
        let file = &pool.ok_or(CudaError::InvalidValue)?.file;
        file.descriptor().ok_or(CudaError::OperatingSystem)
    }

    /// Imports the pool that a file descriptor refers to. `create` creates the pool of this process on a device. Fails with
    /// [`CudaError::Unknown`], as an H200's driver does, for all other descriptors.
    pub fn import(
        &self,
        descriptor: i32,
        create: impl FnOnce(u32) -> Result<u64, CudaError>,
    ) -> Result<u64, CudaError> {
        let file = SharedFile::from_descriptor(descriptor).ok_or(CudaError::Unknown)?;
        let device = file.name().strip_prefix(POOL);
        let device = device.and_then(|device| device.parse().ok());
        let pool = create(device.ok_or(CudaError::Unknown)?)?;
        self.insert(pool, file, true);
        Ok(pool)
    }

    /// Returns the identity of a shareable or imported pool.
    pub fn id(&self, pool: u64) -> Option<FileId> {
        Some(lock(&self.0).get(&pool)?.file.id())
    }

    /// Returns true for the pool of another process, from which this one cannot allocate.
    pub fn is_imported(&self, pool: u64) -> bool {
        let pools = lock(&self.0);
        pools.get(&pool).is_some_and(|pool| pool.is_imported)
    }

    /// Removes a pool that the program has destroyed.
    pub fn remove(&self, pool: u64) {
        lock(&self.0).remove(&pool);
    }
}
