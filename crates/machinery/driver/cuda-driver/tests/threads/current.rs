//! Setting the current context while a kernel runs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use std::{ptr, thread};

use cust::context::legacy;
use cust::module::Module;

use super::own_context;
use super::support::{allocate_host, launch, ok};

/// A kernel that sets a word when it starts, and ends when the next word is no longer zero.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry until_told(.param .u64 words)
{
    .reg .pred %p;
    .reg .b32 %r<2>;
    .reg .b64 %d;
    ld.param.u64 %d, [words];
    st.volatile.global.u32 [%d], 1;
AGAIN:
    ld.volatile.global.u32 %r1, [%d+4];
    setp.eq.u32 %p, %r1, 0;
    @%p bra AGAIN;
    ret;
}
";

#[test]
fn setting_the_current_context_does_not_wait_for_kernels() {
    let context = own_context();
    let (unowned, again) = (context.get_unowned(), context.get_unowned());
    let host = allocate_host::<[u32; 2]>(8);
    // SAFETY: both sides access the two allocated words only as atomics.
    let words = unsafe {
        host.write([0; 2]);
        &*host.cast::<[AtomicU32; 2]>()
    };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            legacy::CurrentContext::set_current(&unowned).unwrap();
            let module = Module::from_ptx(PTX, &[]).unwrap();
            let function = module.get_function("until_told").unwrap().to_raw().cast();
            let address = ptr::from_ref(words) as u64;
            ok(launch(function, [1, 1], ptr::null_mut(), &[address]));
            calls! { cuCtxSynchronize(); }
        });
        scope.spawn(move || {
            while words[0].load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            sender
                .send(legacy::CurrentContext::set_current(&again))
                .unwrap();
        });
        let answered = receiver.recv_timeout(Duration::from_secs(20));
        words[1].store(1, Ordering::Release);
        assert_eq!(answered, Ok(Ok(())));
    });
}
