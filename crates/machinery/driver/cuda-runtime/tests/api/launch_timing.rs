//! Reported execution times of kernel launches.

use std::ffi::c_void;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::Mutex;

use cuda_driver::TimedLaunch;
use cuda_runtime as cuda;
use cuda_runtime::types::Dim3;

use super::program::*;

static TIMED: u8 = 7;
static REPORTED: Mutex<Vec<TimedLaunch>> = Mutex::new(Vec::new());

const GRID: Dim3 = Dim3 { x: 5, y: 1, z: 1 };
const BLOCK: Dim3 = Dim3 { x: 32, y: 2, z: 1 };

fn register_timed() {
    start();
    let image = c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry timed() { ret; }";
    let handle = register(image.as_ptr().cast());
    register_kernel(handle, &TIMED, c"timed");
    code!(__cudaRegisterFatBinaryEnd(handle));
}

fn launch(stream: *mut c_void) {
    calls! { cudaLaunchKernel(host(&TIMED), GRID, BLOCK, null_mut(), 0, stream.cast()); }
}

/// Returns the reported launches of this file's kernel; other tests launch theirs concurrently.
fn reported() -> Vec<TimedLaunch> {
    let all = REPORTED.lock().unwrap();
    all.iter()
        .filter(|launch| launch.kernel == "timed")
        .cloned()
        .collect()
}

fn synchronize() {
    calls! { cudaDeviceSynchronize(); }
}

#[test]
fn finished_launches_are_reported() {
    register_timed();
    cuda::time_launches(Box::new(|launch| REPORTED.lock().unwrap().push(launch)));
    launch(null_mut());
    synchronize();
    let [first] = &reported()[..] else {
        panic!("{:?}", reported())
    };
    assert_eq!((first.grid, first.block), ([5, 1, 1], [32, 2, 1]));
    assert!(first.milliseconds > 0.0, "{first:?}");
    // More launches than the runtime keeps pending without a synchronization.
    for _ in 0..100 {
        launch(null_mut());
    }
    assert!(
        reported().len() > 1,
        "some must be reported before synchronizing"
    );
    synchronize();
    assert_eq!(reported().len(), 101);
    // A launch captured into a graph is not executed yet.
    let mut stream = null_mut();
    let mut graph = null_mut();
    calls! {
        cudaStreamCreateWithFlags(&mut stream, 1);
        cudaStreamBeginCapture(stream, 0);
    }
    launch(stream.cast());
    calls! {
        cudaStreamEndCapture(stream, &mut graph);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(stream);
    }
    synchronize();
    assert_eq!(reported().len(), 101);
}

#[cfg(unix)]
#[test]
#[ignore = "run in a child process by pending_launches_are_reported_at_exit"]
fn exits_without_synchronizing() {
    register_timed();
    cuda::time_launches(Box::new(|launch| println!("reported {}", launch.kernel)));
    launch(null_mut());
    // SAFETY: `exit` runs the registered exit handlers.
    unsafe { libc::exit(0) };
}

#[cfg(unix)]
#[test]
fn pending_launches_are_reported_at_exit() {
    let test = "launch_timing::exits_without_synchronizing";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("reported timed"), "{stdout}");
}
