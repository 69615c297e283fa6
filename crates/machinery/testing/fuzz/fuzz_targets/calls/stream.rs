//! Streams and events.

use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::state::{Handle, State, resolve};

#[derive(Arbitrary, Debug)]
pub enum Call {
    Create(u32, Option<i32>),
    Destroy(Handle),
    Query(Handle),
    Synchronize(Handle),
    Flags(Handle),
    WaitEvent(Handle, Handle, u32),
    CreateEvent(u32),
    DestroyEvent(Handle),
    Record(Handle, Handle),
    QueryEvent(Handle),
    SynchronizeEvent(Handle),
    Elapsed(Handle, Handle),
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &mut State) {
        let (mut int, mut number) = (0, 0);
        // SAFETY: all out-pointers are to live locals. The driver validates handles, which are only numbers.
        unsafe {
            match self {
                Call::Create(flags, priority) => {
                    let mut stream = null_mut();
                    let code = match priority {
                        Some(priority) => cuStreamCreateWithPriority(&mut stream, flags, priority),
                        None => cuStreamCreate(&mut stream, flags),
                    };
                    if code == 0 {
                        state.streams.push(stream);
                    }
                }
                Call::Destroy(handle) => {
                    cuStreamDestroy_v2(state.stream(handle));
                }
                Call::Query(handle) => {
                    cuStreamQuery(state.stream(handle));
                }
                Call::Synchronize(handle) => {
                    cuStreamSynchronize(state.stream(handle));
                }
                Call::Flags(handle) => {
                    cuStreamGetFlags(state.stream(handle), &mut number);
                    cuStreamGetPriority(state.stream(handle), &mut int);
                }
                Call::WaitEvent(stream, event, flags) => {
                    let event = resolve(&state.events, event);
                    cuStreamWaitEvent(state.stream(stream), event, flags);
                }
                Call::CreateEvent(flags) => {
                    let mut event = null_mut();
                    if cuEventCreate(&mut event, flags) == 0 {
                        state.events.push(event);
                    }
                }
                Call::DestroyEvent(handle) => {
                    cuEventDestroy_v2(resolve(&state.events, handle));
                }
                Call::Record(event, stream) => {
                    cuEventRecord(resolve(&state.events, event), state.stream(stream));
                }
                Call::QueryEvent(handle) => {
                    cuEventQuery(resolve(&state.events, handle));
                }
                Call::SynchronizeEvent(handle) => {
                    cuEventSynchronize(resolve(&state.events, handle));
                }
                Call::Elapsed(start, end) => {
                    let (start, end) = (resolve(&state.events, start), resolve(&state.events, end));
                    cuEventElapsedTime(&mut 0.0, start, end);
                }
            }
        }
    }
}
