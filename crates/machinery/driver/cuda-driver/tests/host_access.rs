//! The host-access check: each kind of error planted once, next to a correct variant for which nothing is
//! reported.

#![cfg(unix)]

#[macro_use]
mod support;

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use cuda_driver::{Check, Checks, Finding, FindingKind, Severity};
use cust::sys::{CUfunction, CUstream};
use support::*;

/// A kernel that stores 7 at an address.
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
}";

/// The objects of a test program: 8192 bytes each of page-locked, managed and device memory, a stream and a
/// kernel.
struct Program {
    locked: *mut u8,
    managed: *mut u8,
    device: u64,
    h_stream: CUstream,
    store: CUfunction,
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
    program(&Program {
        locked,
        managed: std::ptr::with_exposed_provenance_mut(managed as usize),
        device: allocate(BYTES),
        h_stream: stream(1),
        store: function(module(PTX), c"store"),
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
        "which a copy of 8192 bytes writes",
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
        "which a copy of 8192 bytes reads",
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
fn reading_managed_memory_during_a_kernel_is_reported() {
    let faulty = findings_of(|program| {
        program.launch(program.managed);
        read(program.managed, 0);
        program.wait();
        assert_eq!(read(program.managed, 0), 7);
    });
    let parts = ["the program reads byte 0", "which kernel store may use"];
    assert_finding(&faulty, FindingKind::HostAccessed, Severity::Error, &parts);
    let correct = findings_of(|program| {
        program.launch(program.managed);
        program.wait();
        assert_eq!(read(program.managed, 0), 7);
    });
    assert_eq!(correct, []);
}

#[test]
fn page_locked_memory_used_by_a_kernel_is_a_warning() {
    let faulty = findings_of(|program| {
        program.launch(program.locked);
        read(program.locked, 0);
        program.wait();
    });
    let parts = ["which kernel store may use"];
    assert_finding(
        &faulty,
        FindingKind::HostAccessed,
        Severity::Warning,
        &parts,
    );
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
