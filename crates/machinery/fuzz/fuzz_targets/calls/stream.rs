//! Streams and events.

use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::known::{Known, Which, pick};

#[derive(Arbitrary, Debug)]
pub enum Call {
    Create(u32, Option<i32>),
    Destroy(Which),
    Query(Which),
    Synchronize(Which),
    Flags(Which),
    WaitEvent(Which, Which, u32),
    CreateEvent(u32),
    DestroyEvent(Which),
    Record(Which, Which),
    QueryEvent(Which),
    SynchronizeEvent(Which),
    Elapsed(Which, Which),
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &mut Known) {
        let (mut int, mut number) = (0, 0);
        // SAFETY: a handle is a number, which the driver has to make sure of.
        unsafe {
            match self {
                Call::Create(flags, priority) => {
                    let mut stream = null_mut();
                    let code = match priority {
                        Some(priority) => cuStreamCreateWithPriority(&mut stream, flags, priority),
                        None => cuStreamCreate(&mut stream, flags),
                    };
                    if code == 0 {
                        known.streams.push(stream);
                    }
                }
                Call::Destroy(which) => {
                    cuStreamDestroy_v2(known.stream(which));
                }
                Call::Query(which) => {
                    cuStreamQuery(known.stream(which));
                }
                Call::Synchronize(which) => {
                    cuStreamSynchronize(known.stream(which));
                }
                Call::Flags(which) => {
                    cuStreamGetFlags(known.stream(which), &mut number);
                    cuStreamGetPriority(known.stream(which), &mut int);
                }
                Call::WaitEvent(stream, event, flags) => {
                    let event = pick(&known.events, event);
                    cuStreamWaitEvent(known.stream(stream), event, flags);
                }
                Call::CreateEvent(flags) => {
                    let mut event = null_mut();
                    if cuEventCreate(&mut event, flags) == 0 {
                        known.events.push(event);
                    }
                }
                Call::DestroyEvent(which) => {
                    cuEventDestroy_v2(pick(&known.events, which));
                }
                Call::Record(event, stream) => {
                    cuEventRecord(pick(&known.events, event), known.stream(stream));
                }
                Call::QueryEvent(which) => {
                    cuEventQuery(pick(&known.events, which));
                }
                Call::SynchronizeEvent(which) => {
                    cuEventSynchronize(pick(&known.events, which));
                }
                Call::Elapsed(start, end) => {
                    let (start, end) = (pick(&known.events, start), pick(&known.events, end));
                    cuEventElapsedTime(&mut 0.0, start, end);
                }
            }
        }
    }
}
