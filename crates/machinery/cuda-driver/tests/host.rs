//! The check `host`: each mistake planted once, and beside it its correct twin, of which nothing is said.

#![cfg(unix)]

extern crate cuda_driver as _;

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, Once, PoisonError};

use cuda_driver::functions as cu;
use cuda_driver::{Check, Checks, Finding, FindingKind, Severity};
use cust::context::legacy::{Context, ContextFlags};
use cust::device::Device;
use cust::sys::{CUfunction, CUstream};

/// A kernel that stores 7 at an address.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry store(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}
\0";

#[track_caller]
fn ok(code: c_int) {
    assert_eq!(code, 0);
}

/// What a program has: page-locked, managed and device memory of 8192 bytes each, a stream and a kernel.
struct Program {
    locked: *mut u8,
    managed: *mut u8,
    device: u64,
    on: CUstream,
    store: CUfunction,
}

const BYTES: usize = 8192;

/// What the check finds in a program.
fn found(program: impl FnOnce(&Program)) -> Vec<Finding> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    static FORCED: Once = Once::new();
    // SAFETY: before any call of the driver, which alone reads it; Rust's own reading of the environment
    // waits.
    FORCED.call_once(|| unsafe { std::env::set_var("CUDA_BACKEND", "sim") });
    cust::init(cust::CudaFlags::empty()).expect("the simulator");
    let device = Device::get_device(0).expect("its device");
    let _context = Context::create_and_push(ContextFlags::SCHED_AUTO, device).expect("a context");
    let (mut locked, mut managed, mut device) = (null_mut(), 0, 0);
    let (mut on, mut module, mut store) = (null_mut(), null_mut(), null_mut());
    // SAFETY: all texts end in zero bytes, and the results can be written to.
    unsafe {
        ok(cu::cuMemAllocHost_v2(&mut locked, BYTES));
        ok(cu::cuMemAllocManaged(&mut managed, BYTES, 1));
        ok(cu::cuMemAlloc_v2(&mut device, BYTES));
        ok(cu::cuStreamCreate(&mut on, 1));
        ok(cu::cuModuleLoadData(&mut module, PTX.as_ptr().cast()));
        ok(cu::cuModuleGetFunction(
            &mut store,
            module,
            c"store".as_ptr(),
        ));
    }
    cuda_driver::check(Checks {
        host: true,
        ..Checks::NONE
    });
    program(&Program {
        locked: locked.cast(),
        managed: std::ptr::with_exposed_provenance_mut(managed as usize),
        device,
        on,
        store,
    });
    let findings = cuda_driver::take_findings();
    cuda_driver::check(Checks::NONE);
    findings
}

impl Program {
    fn read_back(&self) {
        let to = self.locked.cast();
        // SAFETY: the memory lives until the stream is waited for.
        ok(unsafe { cu::cuMemcpyDtoHAsync_v2(to, self.device, BYTES, self.on) });
    }

    fn send(&self, bytes: usize) {
        let from = self.locked.cast_const().cast();
        // SAFETY: as above.
        ok(unsafe { cu::cuMemcpyHtoDAsync_v2(self.device, from, bytes, self.on) });
    }

    fn launch(&self, at: *mut u8) {
        let mut at = at as u64;
        let mut arguments: [*mut c_void; 1] = [(&raw mut at).cast()];
        let list = arguments.as_mut_ptr();
        // SAFETY: the argument is the kernel's.
        ok(unsafe {
            cu::cuLaunchKernel(self.store, 1, 1, 1, 1, 1, 1, 0, self.on, list, null_mut())
        });
    }

    fn wait(&self) {
        // SAFETY: any handle may be named.
        ok(unsafe { cu::cuStreamSynchronize(self.on) });
    }
}

/// Reads a byte that is nobody's but the driver's.
fn read(at: *const u8, offset: usize) -> u8 {
    // SAFETY: the memory is the driver's and lives.
    unsafe { at.add(offset).read_volatile() }
}

fn write(at: *mut u8, offset: usize, value: u8) {
    // SAFETY: as above.
    unsafe { at.add(offset).write_volatile(value) }
}

/// There is one finding: of this kind, and it says this.
#[track_caller]
fn says(findings: &[Finding], kind: FindingKind, severity: Severity, parts: &[&str]) {
    let [finding] = findings else {
        panic!("{findings:?}");
    };
    assert_eq!((finding.kind, finding.severity), (kind, severity));
    assert_eq!(finding.check, Check::Host);
    let text = finding.to_string();
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn a_result_that_is_read_before_its_copy_is_done() {
    let slip = found(|program| {
        program.read_back();
        read(program.locked, 5000);
        program.wait();
    });
    let parts = [
        "the program reads byte 5000 of the 8192-byte allocation",
        "which a copy of 8192 bytes writes",
        "usually: nobody waited for the stream",
    ];
    says(&slip, FindingKind::HostTouched, Severity::Error, &parts);
    let right = found(|program| {
        program.read_back();
        program.wait();
        read(program.locked, 5000);
    });
    assert_eq!(right, []);
}

#[test]
fn a_source_that_is_overwritten_before_it_was_sent() {
    let slip = found(|program| {
        write(program.locked, 0, 1);
        program.send(BYTES);
        // To read it is no mistake.
        read(program.locked, 0);
        write(program.locked, 0, 2);
        program.wait();
        // The program went on, as it would have without the check.
        let mut word = 0_u8;
        // SAFETY: a byte to write to.
        ok(unsafe { cu::cuMemcpyDtoH_v2((&raw mut word).cast(), program.device, 1) });
        assert_eq!(word, 2);
    });
    let parts = [
        "the program writes byte 0",
        "which a copy of 8192 bytes reads",
    ];
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        says(&slip, FindingKind::HostTouched, Severity::Error, &parts);
    }
    let right = found(|program| {
        write(program.locked, 0, 1);
        program.send(BYTES);
        read(program.locked, 0);
        program.wait();
        write(program.locked, 0, 2);
    });
    assert_eq!(right, []);
}

#[test]
fn halves_of_a_buffer_are_told_apart() {
    let right = found(|program| {
        program.send(BYTES / 2);
        write(program.locked, BYTES / 2, 1);
        program.wait();
        program.send(100);
        // In the same page, but not among the bytes.
        write(program.locked, 200, 1);
        program.wait();
    });
    assert_eq!(right, []);
}

#[test]
fn managed_memory_that_is_read_while_a_kernel_may_write_it() {
    let slip = found(|program| {
        program.launch(program.managed);
        read(program.managed, 0);
        program.wait();
        assert_eq!(read(program.managed, 0), 7);
    });
    let parts = ["the program reads byte 0", "which kernel store may use"];
    says(&slip, FindingKind::HostTouched, Severity::Error, &parts);
    let right = found(|program| {
        program.launch(program.managed);
        program.wait();
        assert_eq!(read(program.managed, 0), 7);
    });
    assert_eq!(right, []);
}

#[test]
fn page_locked_memory_that_a_kernel_may_use_is_a_warning() {
    let slip = found(|program| {
        program.launch(program.locked);
        read(program.locked, 0);
        program.wait();
    });
    let parts = ["which kernel store may use"];
    says(&slip, FindingKind::HostTouched, Severity::Warning, &parts);
}

#[test]
fn memory_that_is_freed_while_a_copy_uses_it() {
    let slip = found(|program| {
        program.read_back();
        // SAFETY: the driver waits for the copy first.
        ok(unsafe { cu::cuMemFreeHost(program.locked.cast()) });
    });
    let parts = [
        "the program frees byte 0",
        "which a copy of 8192 bytes writes",
    ];
    says(&slip, FindingKind::HostFreed, Severity::Error, &parts);
    let slip = found(|program| {
        program.launch(program.managed);
        // SAFETY: as above.
        ok(unsafe { cu::cuMemFree_v2(program.managed as u64) });
    });
    let parts = ["which kernel store may use"];
    says(&slip, FindingKind::HostFreed, Severity::Error, &parts);
    let right = found(|program| {
        program.read_back();
        program.launch(program.managed);
        program.wait();
        // SAFETY: nothing uses it.
        unsafe {
            ok(cu::cuMemFreeHost(program.locked.cast()));
            ok(cu::cuMemFree_v2(program.managed as u64));
        }
    });
    assert_eq!(right, []);
}

/// A launch of a graph that copies a byte of the program's own memory, which then becomes another.
fn launched(changes_early: bool) -> Vec<Finding> {
    found(|program| {
        let (mut graph, mut made, mut byte) = (null_mut(), null_mut(), 1_u8);
        let from = &raw mut byte;
        // SAFETY: the byte lives until the stream is waited for.
        unsafe {
            ok(cu::cuStreamBeginCapture_v2(program.on, 0));
            ok(cu::cuMemcpyHtoDAsync_v2(
                program.device,
                from.cast_const().cast(),
                1,
                program.on,
            ));
            ok(cu::cuStreamEndCapture(program.on, &mut graph));
            ok(cu::cuGraphInstantiateWithFlags(&mut made, graph, 0));
            from.write_volatile(2);
            ok(cu::cuGraphLaunch(made, program.on));
            if changes_early {
                from.write_volatile(3);
            }
            program.wait();
            from.write_volatile(4);
        }
    })
}

#[test]
fn what_a_graph_was_to_copy_and_has_changed() {
    let parts = [
        "the program changed host memory at",
        "which a launched graph was still to copy: 1 bytes",
    ];
    says(
        &launched(true),
        FindingKind::HostChanged,
        Severity::Error,
        &parts,
    );
    assert_eq!(launched(false), []);
}

#[test]
fn faults_of_the_programs_own_still_end_it() {
    const WITHIN: &str = "HOST_FAULT";
    if std::env::var_os(WITHIN).is_some() {
        found(|program| {
            program.read_back();
            // SAFETY: none: this is the fault.
            unsafe { null::<u8>().wrapping_add(64).read_volatile() };
        });
        unreachable!("the process has ended");
    }
    let this = std::env::current_exe().expect("the test's program");
    let status = std::process::Command::new(this)
        .args(["faults_of_the_programs_own_still_end_it", "--exact"])
        .env(WITHIN, "1")
        .output()
        .expect("it starts")
        .status;
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(status.signal(), Some(libc::SIGSEGV));
}
