//! Several threads, each with a context of its own, under what is the whole process's: checks, the
//! time limit, and the program's end. Each case is a child process, for the environment is read
//! once in each: this test program again, with [`child`] alone.

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

/// A kernel that reads a word of `in` that nobody has written, and one that does not end. `NAME` is
/// the kernels' own.
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

/// A context and a module of the thread's own.
fn begin(number: u32) -> (legacy::Context, Module) {
    cust::init(cust::CudaFlags::empty()).unwrap();
    let device = Device::get_device(0).unwrap();
    let flags = legacy::ContextFlags::SCHED_AUTO;
    let context = legacy::Context::create_and_push(flags, device).unwrap();
    let module = Module::from_ptx(PTX.replace("NAME", &number.to_string()), &[]).unwrap();
    (context, module)
}

/// Reads what nobody has written, and forgets buffer and context.
fn read(number: u32) {
    let (context, module) = begin(number);
    let kernel = module.get_function(format!("reads_{number}")).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    // SAFETY: to be read all the same is what is tried.
    let buffer = unsafe { DeviceBuffer::<u32>::uninitialized(8) }.unwrap();
    // SAFETY: the parameter is the kernel's, and there is a word for each block.
    unsafe { launch!(kernel<<<8, 1, 0, stream>>>(buffer.as_device_ptr())) }.unwrap();
    std::mem::forget((buffer, context));
}

/// Launches the kernel that does not end; says how that ended.
fn run_on(number: u32) -> Result<(), CudaError> {
    let (_context, module) = begin(number);
    let kernel = module.get_function(format!("endless_{number}")).unwrap();
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    // SAFETY: it has no parameters.
    unsafe { launch!(kernel<<<2, 32, 0, stream>>>()) }?;
    let ended = stream.synchronize();
    assert_eq!(CurrentContext::synchronize(), ended);
    std::mem::forget(module); // which cust would panic about
    ended
}

/// What the threads of this test do, by the environment.
#[test]
#[ignore = "the other tests run it in a process of its own"]
fn child() {
    let what = std::env::var("CHILD").unwrap();
    thread::scope(|scope| {
        let threads = (0..THREADS).map(|number| match what.as_str() {
            "read" => scope.spawn(move || {
                read(number);
                Ok(())
            }),
            _ => scope.spawn(move || run_on(number)),
        });
        let threads: Vec<_> = threads.collect();
        if what == "exit" {
            // Some launch is under way, and the others wait for it.
            while progress().is_none() {
                thread::yield_now();
            }
            std::process::exit(130);
        }
        for thread in threads {
            println!("ended: {:?}", thread.join().unwrap());
        }
    });
    let found = take_findings();
    let unwritten = found
        .iter()
        .filter(|one| one.kind == FindingKind::UnwrittenDevice);
    println!("found: {}", unwritten.count());
}

/// Runs [`child`]: its exit code, stdout and stderr.
fn run(what: &str, settings: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    command.env_remove("CUDA_SIM_CHECK");
    command.envs([("CUDA_BACKEND", "sim"), ("CHILD", what)]);
    command.envs(settings.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // What hangs is to fail.
    let late = Instant::now() + Duration::from_secs(300);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if Instant::now() > late => {
                child.kill().unwrap();
                panic!("{what} does not end");
            }
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.unwrap().read_to_string(&mut stderr).unwrap();
    (status.code(), stdout, stderr)
}

/// Each mistake is found once, in the kernel of the thread that made it; what is still allocated at
/// the end is told once, of every context.
#[test]
fn findings_are_of_the_kernel_that_ran() {
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

/// Each launch has the whole of the limit, however long it waited for the others.
#[test]
fn the_time_limit_ends_every_launch() {
    let (code, stdout, stderr) = run("endless", &[("CUDA_SIM_TIME_LIMIT", "0.2")]);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    let ended = stdout.matches("ended: Err(LaunchTimeout)").count();
    assert_eq!(ended, THREADS as usize, "{stdout}\n{stderr}");
    let said = stderr
        .matches("warpbook: the kernel ran past its time limit of 0.2 s")
        .count();
    assert_eq!(said, THREADS as usize, "{stderr}");
}

/// As Ctrl-C ends a program: nobody waits for a launch.
#[test]
fn the_program_ends_though_threads_are_in_launches() {
    for checks in ["", "all"] {
        let (code, stdout, stderr) = run("exit", &[("CUDA_SIM_CHECK", checks)]);
        assert_eq!(code, Some(130), "{stdout}\n{stderr}");
        assert!(!stderr.contains("warpbook: "), "{stderr}");
    }
}
