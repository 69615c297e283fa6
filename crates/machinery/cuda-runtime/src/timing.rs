//! How long kernels take, for who asks: an event before each launch and one after it. Launches that a graph
//! captures are not timed, nor those that the program makes with the driver API.

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use cuda_driver::TimedLaunch;
use cuda_driver::functions as cu;
use cust_raw::{CUevent, CUstream};

use crate::fork::is_child;
use crate::start::Context;
use crate::status::{Answer, SUCCESS};
use crate::types::Dim3;

/// Who is told of launches, in any thread.
pub type Hear = Box<dyn Fn(TimedLaunch) + Send + Sync>;

static HEAR: OnceLock<Hear> = OnceLock::new();

/// Launches that have been put into streams and not been told of.
static UNDER_WAY: Mutex<Vec<Pending>> = Mutex::new(Vec::new());

/// So many launches are under way before it is looked which have ended: a crash takes those with it that nobody
/// was told of.
const OFTEN: usize = 64;

/// From now on each launch is timed, and `hear` is told of it once it has ended. Only the first call counts.
pub fn time_launches(hear: Hear) {
    let _ = HEAR.set(hear);
}

/// Has the last launches told of when the program ends: before the driver ends, which has been started.
#[cfg(unix)]
fn tell_at_exit() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    extern "C" fn at_exit() {
        tell(Which::All);
    }
    ONCE.call_once(|| {
        // SAFETY: the function is there as long as the program. Where there is no room for it, the last
        // launches are not told of.
        unsafe { libc::atexit(at_exit) };
    });
}

#[cfg(not(unix))]
fn tell_at_exit() {}

/// A launch that is under way.
struct Pending {
    launch: TimedLaunch,
    context: Context,
    events: [Event; 2],
}

/// An event that is destroyed when it is dropped.
struct Event(CUevent);

// SAFETY: a handle is a number that the driver gave; any thread may use it.
unsafe impl Send for Event {}

impl Event {
    /// Puts a new event into a stream; none where the driver does not.
    fn record(stream: CUstream) -> Option<Self> {
        let mut event = null_mut();
        // SAFETY: the driver writes one handle; any stream may be named.
        unsafe {
            if cu::cuEventCreate(&mut event, 0) != SUCCESS {
                return None;
            }
            let event = Self(event);
            (cu::cuEventRecord(event.0, stream) == SUCCESS).then_some(event)
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it is this value's own. Where its context is gone, so is it.
        unsafe { cu::cuEventDestroy_v2(self.0) };
    }
}

/// Makes a launch, and times it if that was asked for. Returns the driver's answer. `kernel` gives the name in
/// the device code and the context.
pub fn timed(
    kernel: impl FnOnce() -> Answer<(String, Context)>,
    (grid, block, stream): (Dim3, Dim3, CUstream),
    launch: impl FnOnce() -> c_int,
) -> c_int {
    if HEAR.get().is_none() || !is_free(stream) {
        return launch();
    }
    let before = Event::record(stream);
    let result = launch();
    if result == SUCCESS
        && let Some(before) = before
        && let Some(after) = Event::record(stream)
        && let Ok((kernel, context)) = kernel()
    {
        tell_at_exit();
        let launch = TimedLaunch {
            kernel,
            grid: [grid.x, grid.y, grid.z],
            block: [block.x, block.y, block.z],
            milliseconds: 0.0,
        };
        let events = [before, after];
        let mut under_way = under_way();
        under_way.push(Pending {
            launch,
            context,
            events,
        });
        let many = under_way.len() >= OFTEN;
        drop(under_way);
        if many {
            tell(Which::Ended);
        }
    }
    result
}

fn under_way() -> MutexGuard<'static, Vec<Pending>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether what is put into a stream is done, and not captured.
fn is_free(stream: CUstream) -> bool {
    const NONE: c_int = 0;
    let mut capturing = NONE;
    // SAFETY: the driver writes one number.
    let result = unsafe { cu::cuStreamIsCapturing(stream, &mut capturing) };
    result == SUCCESS && capturing == NONE
}

/// The launches of which to tell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that have ended.
    Ended,
    /// All: who asks waits for them.
    All,
    /// All of a context that is about to end.
    Of(Context),
}

/// Tells of launches, in the order in which they were made.
pub fn tell(which: Which) {
    let Some(hear) = HEAR.get() else { return };
    // The launches are the parent's.
    if is_child() {
        return;
    }
    // A program may be capturing in this thread, where asking for events is forbidden otherwise.
    const RELAXED: c_int = 2;
    let mut mode = RELAXED;
    // SAFETY: the driver exchanges one number.
    unsafe { cu::cuThreadExchangeStreamCaptureMode(&mut mode) };
    under_way().retain_mut(|pending| match pending.end(which) {
        End::Later => true,
        End::Failed => false,
        End::Timed => {
            hear(pending.launch.clone());
            false
        }
    });
    // SAFETY: as above.
    unsafe { cu::cuThreadExchangeStreamCaptureMode(&mut mode) };
}

/// What has become of a launch.
enum End {
    Timed,
    Later,
    /// A fault ended it or its context.
    Failed,
}

impl Pending {
    fn end(&mut self, which: Which) -> End {
        const NOT_READY: c_int = 600;
        let [before, after] = &self.events;
        // SAFETY: both events are there; the driver writes one number.
        unsafe {
            let ended = match which {
                Which::Ended => cu::cuEventQuery(after.0),
                Which::Of(context) if context != self.context => return End::Later,
                Which::All | Which::Of(_) => cu::cuEventSynchronize(after.0),
            };
            match ended {
                NOT_READY => return End::Later,
                SUCCESS => {}
                _ => return End::Failed,
            }
            let mut milliseconds = 0.0;
            if cu::cuEventElapsedTime(&mut milliseconds, before.0, after.0) != SUCCESS {
                return End::Failed;
            }
            self.launch.milliseconds = milliseconds.into();
            End::Timed
        }
    }
}
