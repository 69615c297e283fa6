//! Several threads, each with its own context, sharing what is per process: checks, the time limit, and
//! program exit. The environment is read once per process, so each case runs this test program again as a
//! child process, with [`child`] alone.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cuda_driver::{FindingKind, progress, take_findings};
use cust::context::{CurrentContext, legacy};
use cust::device::Device;
use cust::error::CudaError;
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};

/// A kernel that reads an uninitialized word of `in`, and one that never ends. `NAME` is replaced by a prefix
/// per thread.
const PTX: &str = "
.version 6.4
.target sm_52
.address_size 64
.visible .entry reads_NAME(.param .u64 in)
{
    .reg .b32 %r<3>;
    .reg .b64 %d<3>;
    ld.param.u64 %d1, [in];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d1, %d1, %d2;
    ld.global.u32 %r1, [%d1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%d1], %r1;
    ret;
}
.visible .entry endless_NAME()
{
AGAIN:
    bra AGAIN;
}";

const THREADS: u32 = 4;

/// Creates a context and loads a module for the thread.
fn create_context(number: u32) -> (legacy::Context, Module) {
    cust::init(cust::CudaFlags::empty()).unwrap();
    let device = Device::get_device(0).unwrap();
    let flags = legacy::ContextFlags::SCHED_AUTO;
    let context = legacy::Context::create_and_push(flags, device).unwrap();
    let module = Module::from_ptx(PTX.replace("NAME", &number.to_string()), &[]).unwrap();
    (context, module)
}

/// Reads uninitialized memory, and leaks buffer and context.
fn read(number: u32) {
    let (context, module) = create_context(number);
    let kernel = module.get_function(format!("reads_{number}")).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    // SAFETY: the access is intended to be detected: the guard resumes it after recording.
    let buffer = unsafe { DeviceBuffer::<u32>::uninitialized(8) }.unwrap();
    // SAFETY: the parameter matches the kernel's signature, and the buffer has one word per block.
    unsafe { launch!(kernel<<<8, 1, 0, stream>>>(buffer.as_device_ptr())) }.unwrap();
    std::mem::forget((buffer, context));
}

/// Launches the endless kernel. Returns how it ended.
fn launch_endless(number: u32) -> Result<(), CudaError> {
    let (_context, module) = create_context(number);
    let kernel = module.get_function(format!("endless_{number}")).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    // SAFETY: the kernel has no parameters.
    unsafe { launch!(kernel<<<2, 32, 0, stream>>>()) }?;
    let ended = stream.synchronize();
    assert_eq!(CurrentContext::synchronize(), ended);
    std::mem::forget(module); // which cust would panic about
    ended
}

/// Runs the threads of the test that the environment names.
#[test]
#[ignore = "run by the other tests in a separate process"]
fn child() {
    let case = std::env::var("CHILD").unwrap();
    thread::scope(|scope| {
        let threads = (0..THREADS).map(|number| match case.as_str() {
            "read" => scope.spawn(move || {
                read(number);
                Ok(())
            }),
            _ => scope.spawn(move || launch_endless(number)),
        });
        let threads: Vec<_> = threads.collect();
        if case == "exit" {
            // Some launch is running, and the others wait for it.
            while progress().is_none() {
                thread::yield_now();
            }
            std::process::exit(130);
        }
        for thread in threads {
            println!("ended: {:?}", thread.join().unwrap());
        }
    });
    let findings = take_findings();
    let uninitialized = findings
        .iter()
        .filter(|one| one.kind == FindingKind::UninitializedDevice);
    println!("found: {}", uninitialized.count());
}

/// Runs [`child`]. Returns its exit code, stdout and stderr.
fn run(case: &str, settings: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    command.env_remove("CUDA_SIM_CHECK");
    command.envs([("CUDA_BACKEND", "sim"), ("CHILD", case)]);
    command.envs(settings.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Fail instead of hanging.
    let late = Instant::now() + Duration::from_secs(300);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > late => {
                child.kill().unwrap();
                panic!("{case} does not end");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.unwrap().read_to_string(&mut stderr).unwrap();
    (status.code(), stdout, stderr)
}

/// Each error is reported once, for the kernel of the thread that made it; memory that is still allocated at
/// exit is reported once, for all contexts.
#[test]
fn findings_name_the_kernel_of_their_thread() {
    let (code, stdout, stderr) = run("read", &[("CUDA_SIM_CHECK", "all")]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let times = |text: &str| stderr.matches(text).count();
    for number in 0..THREADS {
        assert_eq!(times(&format!("in kernel reads_{number},")), 1, "{stderr}");
    }
    assert_eq!(
        times("warpbook: error: init: "),
        THREADS as usize,
        "{stderr}"
    );
    assert_eq!(
        times("warpbook: error: leak: "),
        THREADS as usize,
        "{stderr}"
    );
    assert_eq!(times("warpbook: "), 2 * THREADS as usize, "{stderr}");
    assert!(stdout.contains("found: 4"), "{stdout}");
}

/// Each launch has the full time limit, no matter how long it waited for the others.
#[test]
fn time_limit_applies_to_each_launch() {
    let (code, stdout, stderr) = run("endless", &[("CUDA_SIM_TIME_LIMIT", "0.2")]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let ended = stdout.matches("ended: Err(LaunchTimeout)").count();
    assert_eq!(ended, THREADS as usize, "{stdout}\n{stderr}");
    let message = stderr
        .matches("warpbook: the kernel ran past its time limit of 0.2 s")
        .count();
    assert_eq!(message, THREADS as usize, "{stderr}");
}

/// Exits as Ctrl-C does, without waiting for launches.
#[test]
fn program_exits_while_threads_are_in_launches() {
    for checks in ["", "all"] {
        let (code, stdout, stderr) = run("exit", &[("CUDA_SIM_CHECK", checks)]);
        assert_eq!(code, Some(130), "{stdout}\n{stderr}");
        assert!(!stderr.contains("warpbook: "), "{stderr}");
    }
}
