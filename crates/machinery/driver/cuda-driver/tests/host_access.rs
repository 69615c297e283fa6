//! The host-access check: each kind of error planted once, next to a correct variant for which nothing is
//! reported.

#![cfg(unix)]

#[macro_use]
mod support;

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use cuda_driver::types::{CUfunction, CUstream};
use cuda_driver::{Check, Checks, Finding, FindingKind, Severity};
use support::*;

/// Kernels that store 7 at an address, load a word, store 7 with a volatile access and after a fence, and add 7.
const PTX: &CStr = c"
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
.visible .entry load(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    ld.global.u32 %r1, [%rd1];
    ret;
}
.visible .entry flag(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 7;
    st.volatile.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry fence(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 7;
    membar.sys;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry atomic(.param .u64 at)
{
    .reg .u64 %rd<2>; .reg .u32 %r<2>;
    ld.param.u64 %rd1, [at];
    mov.u32 %r1, 7;
    red.global.add.u32 [%rd1], %r1;
    ret;
}";

/// The objects of a test program: 8192 bytes each of page-locked, managed and device memory, two streams and the
/// kernels.
struct Program {
    locked: *mut u8,
    managed: *mut u8,
    device: u64,
    h_stream: CUstream,
    other: CUstream,
    store: CUfunction,
    load: CUfunction,
    flag: CUfunction,
    fence: CUfunction,
    atomic: CUfunction,
}

const BYTES: usize = 8192;

/// Returns the findings of the check in `program`.
fn findings_of(program: impl FnOnce(&Program)) -> Vec<Finding> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let _context = own_context();
    let (locked, mut managed) = (allocate_host(BYTES), 0);
    calls! { cuMemAllocManaged(&mut managed, BYTES, 1); }
    cuda_driver::check(Checks {
        host: true,
        ..Checks::NONE
    });
    let module = module(PTX);
    program(&Program {
        locked,
        managed: std::ptr::with_exposed_provenance_mut(managed as usize),
        device: allocate(BYTES),
        h_stream: stream(1),
        other: stream(1),
        store: function(module, c"store"),
        load: function(module, c"load"),
        flag: function(module, c"flag"),
        fence: function(module, c"fence"),
        atomic: function(module, c"atomic"),
    });
    let findings = cuda_driver::take_findings();
    cuda_driver::check(Checks::NONE);
    findings
}

impl Program {
    fn read_back(&self) {
        let to = self.locked.cast();
        calls! { cuMemcpyDtoHAsync_v2(to, self.device, BYTES, self.h_stream); }
    }

    fn send(&self, bytes: usize) {
        let from = self.locked.cast_const().cast();
        calls! { cuMemcpyHtoDAsync_v2(self.device, from, bytes, self.h_stream); }
    }

    fn launch(&self, address: *mut u8) {
        ok(launch(self.store, [1, 1], self.h_stream, &[address as u64]));
    }

    fn wait(&self) {
        calls! { cuStreamSynchronize(self.h_stream); }
    }
}

/// Reads a byte of memory that only the driver writes.
fn read(address: *const u8, offset: usize) -> u8 {
    // SAFETY: the memory was allocated by the driver and is still allocated.
    unsafe { address.add(offset).read_volatile() }
}

fn write(address: *mut u8, offset: usize, value: u8) {
    // SAFETY: the callee passes its handles only to the driver, which looks them up and never dereferences
    // them.
    unsafe { address.add(offset).write_volatile(value) }
}

/// Checks that there is exactly one finding, of this kind and severity, whose text contains `parts`.
#[track_caller]
fn assert_finding(findings: &[Finding], kind: FindingKind, severity: Severity, parts: &[&str]) {
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
fn reading_a_result_before_its_copy_completes_is_reported() {
    let faulty = findings_of(|program| {
        program.read_back();
        read(program.locked, 5000);
        program.wait();
    });
    let parts = [
        "the program reads byte 5000 of the 8192-byte allocation",
        "which a copy of 8192 bytes in non-blocking stream",
        "likely cause: the program did not wait for the stream",
    ];
    assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    let correct = findings_of(|program| {
        program.read_back();
        program.wait();
        read(program.locked, 5000);
    });
    assert_eq!(correct, []);
}

#[test]
fn overwriting_a_pending_copy_source_is_reported() {
    let faulty = findings_of(|program| {
        write(program.locked, 0, 1);
        program.send(BYTES);
        // Reading the source is allowed.
        read(program.locked, 0);
        write(program.locked, 0, 2);
        program.wait();
        // The program continues as it would without the check.
        let mut word = 0_u8;
        calls! { cuMemcpyDtoH_v2((&raw mut word).cast(), program.device, 1); }
        assert_eq!(word, 2);
    });
    let parts = [
        "the program writes byte 0",
        "which a copy of 8192 bytes in non-blocking stream",
    ];
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    }
    let correct = findings_of(|program| {
        write(program.locked, 0, 1);
        program.send(BYTES);
        read(program.locked, 0);
        program.wait();
        write(program.locked, 0, 2);
    });
    assert_eq!(correct, []);
}

#[test]
fn accesses_outside_the_copied_range_are_not_reported() {
    let correct = findings_of(|program| {
        program.send(BYTES / 2);
        write(program.locked, BYTES / 2, 1);
        program.wait();
        program.send(100);
        // In the same page, but outside the copied bytes.
        write(program.locked, 200, 1);
        program.wait();
    });
    assert_eq!(correct, []);
}

#[test]
fn reading_results_of_a_kernel_too_early_is_reported() {
    let faulty = findings_of(|program| {
        program.launch(program.managed);
        read(program.managed, 0);
        program.wait();
        assert_eq!(read(program.managed, 0), 7);
    });
    let parts = [
        "the program reads byte 0",
        "which kernel store in non-blocking stream",
    ];
    assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    let correct = findings_of(|program| {
        program.launch(program.managed);
        program.wait();
        assert_eq!(read(program.managed, 0), 7);
    });
    assert_eq!(correct, []);
}

#[test]
fn only_bytes_that_operations_use_conflict() {
    let correct = findings_of(|program| {
        // The kernel writes four bytes.
        program.launch(program.managed);
        program.launch(program.locked);
        for offset in 4..64 {
            write(program.managed, offset, 1);
            read(program.locked, offset);
        }
        program.wait();
        // Both only read.
        ok(launch(
            program.load,
            [1, 1],
            program.h_stream,
            &[program.managed as u64],
        ));
        read(program.managed, 0);
        program.wait();
    });
    assert_eq!(correct, []);
}

#[test]
fn a_correct_access_hides_no_later_one() {
    let faulty = findings_of(|program| {
        program.send(100);
        write(program.locked, 200, 1);
        write(program.locked, 0, 2);
        program.wait();
    });
    let parts = ["the program writes byte 0", "a copy of 100 bytes"];
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    }
}

#[test]
fn kernels_that_synchronize_with_the_host_are_not_reported() {
    for is_fence in [false, true] {
        let correct = findings_of(|program| {
            let kernel = if is_fence {
                program.fence
            } else {
                program.flag
            };
            ok(launch(
                kernel,
                [1, 1],
                program.h_stream,
                &[program.locked as u64],
            ));
            while read(program.locked, 0) != 7 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            write(program.locked, 0, 8);
            program.wait();
        });
        assert_eq!(correct, []);
    }
    let atomic = findings_of(|program| {
        ok(launch(
            program.atomic,
            [1, 1],
            program.h_stream,
            &[program.locked as u64],
        ));
        read(program.locked, 0);
        program.wait();
    });
    let parts = ["updates with atomics"];
    assert_finding(
        &atomic,
        FindingKind::HostAccessed,
        Severity::Warning,
        &parts,
    );
}

#[test]
fn host_functions_follow_the_operations_before_them() {
    extern "C" fn touch(memory: *mut std::ffi::c_void) {
        write(memory.cast(), 0, read(memory.cast(), 0) + 1);
    }
    let correct = findings_of(|program| {
        program.read_back();
        calls! { cuLaunchHostFunc(program.h_stream, Some(touch), program.locked.cast()); }
        program.send(BYTES);
        program.wait();
    });
    assert_eq!(correct, []);
}

#[test]
fn waits_for_other_work_are_reported() {
    let stream = findings_of(|program| {
        program.read_back();
        calls! {
            cuMemsetD8Async(program.device + 4096, 0, 1, program.other);
            cuStreamSynchronize(program.other);
        }
        read(program.locked, 0);
    });
    let parts = ["likely cause: the program waited for non-blocking stream"];
    assert_finding(&stream, FindingKind::HostAccessed, Severity::Error, &parts);
    for is_early in [true, false] {
        let findings = findings_of(|program| {
            let event = event();
            if is_early {
                calls! { cuEventRecord(event, program.h_stream); }
            }
            program.read_back();
            if !is_early {
                calls! { cuEventRecord(event, program.h_stream); }
            }
            calls! { cuEventSynchronize(event); }
            read(program.locked, 0);
            program.wait();
        });
        let parts = ["the event that the program waited for was recorded in non-blocking stream"];
        match is_early {
            true => assert_finding(
                &findings,
                FindingKind::HostAccessed,
                Severity::Error,
                &parts,
            ),
            false => assert_eq!(findings, []),
        }
    }
}

#[test]
fn system_calls_on_memory_in_use_succeed() {
    use std::io::{Read, Write};
    let file = std::env::temp_dir().join(format!("warpbook-host-access-{}", std::process::id()));
    let open = || std::fs::File::create(&file).expect("cannot create a file");
    let half = |program: &Program, offset| {
        // SAFETY: the memory is allocated.
        unsafe { std::slice::from_raw_parts(program.locked.add(offset), 100) }
    };
    let correct = findings_of(|program| {
        write(program.locked, 200, 5);
        calls! { cuMemcpyDtoHAsync_v2(program.locked.cast(), program.device, 100, program.h_stream); }
        open().write_all(half(program, 200)).expect("cannot write");
        program.wait();
    });
    assert_eq!(correct, []);
    let faulty = findings_of(|program| {
        calls! { cuMemcpyDtoHAsync_v2(program.locked.cast(), program.device, 100, program.h_stream); }
        open().write_all(half(program, 50)).expect("cannot write");
        program.wait();
    });
    let parts = ["the program reads byte 50"];
    assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    let faulty = findings_of(|program| {
        calls! { cuMemcpyHtoDAsync_v2(program.device, program.locked.cast(), 100, program.h_stream); }
        // SAFETY: the memory is allocated.
        let to = unsafe { std::slice::from_raw_parts_mut(program.locked.add(50), 100) };
        let mut file = std::fs::File::open(&file).expect("cannot open");
        file.read_exact(to).expect("cannot read");
        program.wait();
    });
    let parts = ["the program writes byte 50"];
    assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    std::fs::remove_file(&file).expect("cannot remove the file");
}

/// As on an H100 (driver 580.159.04), where both functions wait for the device.
#[test]
fn freeing_memory_in_use_waits_for_the_work() {
    let correct = findings_of(|program| {
        program.read_back();
        program.launch(program.managed);
        calls! {
            cuMemFreeHost(program.locked.cast());
            cuMemFree_v2(program.managed as u64);
        }
    });
    assert_eq!(correct, []);
}

/// Launches a graph that copies a byte of pageable memory, and changes the byte before or after the copy.
fn findings_of_graph_launch(changes_early: bool) -> Vec<Finding> {
    findings_of(|program| {
        let (mut graph, mut graph_exec, mut byte) = (null_mut(), null_mut(), 1_u8);
        let from = &raw mut byte;
        // SAFETY: the byte lives until the stream is synchronized.
        let write = |value| unsafe { from.write_volatile(value) };
        calls! {
            cuStreamBeginCapture_v2(program.h_stream, 0);
            cuMemcpyHtoDAsync_v2(program.device, from.cast_const().cast(), 1, program.h_stream);
            cuStreamEndCapture(program.h_stream, &mut graph);
            cuGraphInstantiateWithFlags(&mut graph_exec, graph, 0);
        }
        write(2);
        calls! { cuGraphLaunch(graph_exec, program.h_stream); }
        if changes_early {
            write(3);
        }
        program.wait();
        write(4);
    })
}

#[test]
fn changed_graph_copy_sources_are_reported() {
    let parts = [
        "the program changed host memory at",
        "which a launched graph has not copied yet (1 bytes)",
    ];
    assert_finding(
        &findings_of_graph_launch(true),
        FindingKind::HostChanged,
        Severity::Error,
        &parts,
    );
    assert_eq!(findings_of_graph_launch(false), []);
}

#[test]
fn faults_at_unprotected_addresses_terminate_the_program() {
    const IN_CHILD: &str = "HOST_FAULT";
    if std::env::var_os(IN_CHILD).is_some() {
        findings_of(|program| {
            program.read_back();
            // SAFETY: intentionally invalid: this store is the fault under test.
            unsafe { null::<u8>().wrapping_add(64).read_volatile() };
        });
        unreachable!("the process has ended");
    }
    let this = std::env::current_exe().expect("the test's program");
    let status = std::process::Command::new(this)
        .args([
            "faults_at_unprotected_addresses_terminate_the_program",
            "--exact",
        ])
        .env(IN_CHILD, "1")
        .output()
        .expect("cannot start the program")
        .status;
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(status.signal(), Some(libc::SIGSEGV));
}
