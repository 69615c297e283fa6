//! How long launches take, for who asks.

use std::ffi::c_void;
use std::process::Command;
use std::ptr::null_mut;
use std::sync::Mutex;

use cuda_driver::TimedLaunch;
use cuda_runtime as cuda;
use cuda_runtime::types::Dim3;

use super::program::{host, ok, register, register_kernel, start};

static TIMED: u8 = 7;
static TOLD: Mutex<Vec<TimedLaunch>> = Mutex::new(Vec::new());

const GRID: Dim3 = Dim3 { x: 5, y: 1, z: 1 };
const BLOCK: Dim3 = Dim3 { x: 32, y: 2, z: 1 };

fn register_timed() {
    start();
    let image = c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry timed() { ret; }";
    let handle = register(image.as_ptr().cast());
    register_kernel(handle, &TIMED, c"timed");
    // SAFETY: as a compiler calls it.
    unsafe { cuda::__cudaRegisterFatBinaryEnd(handle) };
}

fn launch(stream: *mut c_void) {
    // SAFETY: the kernel has no arguments.
    ok(unsafe { cuda::cudaLaunchKernel(host(&TIMED), GRID, BLOCK, null_mut(), 0, stream.cast()) });
}

/// Those of this file's kernel: other tests launch theirs at the same time.
fn told() -> Vec<TimedLaunch> {
    let all = TOLD.lock().unwrap();
    all.iter()
        .filter(|launch| launch.kernel == "timed")
        .cloned()
        .collect()
}

fn synchronize() {
    // SAFETY: any thread may wait.
    ok(unsafe { cuda::cudaDeviceSynchronize() });
}

#[test]
fn launches_are_told_of_when_they_have_ended() {
    register_timed();
    cuda::time_launches(Box::new(|launch| TOLD.lock().unwrap().push(launch)));
    launch(null_mut());
    synchronize();
    let [first] = &told()[..] else {
        panic!("{:?}", told())
    };
    assert_eq!((first.grid, first.block), ([5, 1, 1], [32, 2, 1]));
    assert!(first.milliseconds > 0.0, "{first:?}");
    // More than are kept until somebody waits.
    for _ in 0..100 {
        launch(null_mut());
    }
    assert!(told().len() > 1, "some are told of before");
    synchronize();
    assert_eq!(told().len(), 101);
    // What a graph captures is no launch yet.
    let mut stream = null_mut();
    let mut graph = null_mut();
    // SAFETY: the handles are written before they are read.
    unsafe {
        ok(cuda::cudaStreamCreateWithFlags(&mut stream, 1));
        ok(cuda::cudaStreamBeginCapture(stream, 0));
        launch(stream.cast());
        ok(cuda::cudaStreamEndCapture(stream, &mut graph));
        ok(cuda::cudaGraphDestroy(graph));
        ok(cuda::cudaStreamDestroy(stream));
    }
    synchronize();
    assert_eq!(told().len(), 101);
}

#[cfg(unix)]
#[test]
#[ignore = "the test after it runs it in a process of its own"]
fn ends_without_waiting() {
    register_timed();
    cuda::time_launches(Box::new(|launch| println!("told of {}", launch.kernel)));
    launch(null_mut());
    // SAFETY: what was registered for the end is called.
    unsafe { libc::exit(0) };
}

#[cfg(unix)]
#[test]
fn the_last_launches_are_told_of_at_the_programs_end() {
    let test = "timing::ends_without_waiting";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("told of timed"), "{printed}");
}
