//! Situations that the program imposes on the driver: it forks, closes and reopens the library, exits during
//! a call, or handles signals. Each case is a child process: this test program again, with one test only.

use std::ffi::c_void;
use std::process::Output;
use std::ptr::null_mut;

use super::cuda::{Code, Cuda, SAXPY, file, run_child};

/// Runs a child process on the simulator, which must succeed. Returns its stdout and stderr.
fn run(name: &str, settings: &[(&str, &str)]) -> (String, String) {
    let simulated = [("CUDA_BACKEND", "sim")];
    let Output {
        status,
        stdout,
        stderr,
    } = run_child(name, &[&simulated, settings].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(stdout), text(stderr));
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn reopened() {
    let first = Cuda::open(&file());
    assert_eq!([first.init(), first.init()], [0, 0], "twice");
    assert_eq!(first.compute_sevens(), [7.0; 100]);
    drop(first);
    for _ in 0..3 {
        let again = Cuda::open(&file());
        assert_eq!(again.init(), 0);
        assert_eq!(again.compute_sevens(), [7.0; 100]);
    }
}

#[test]
fn library_can_be_closed_and_reopened() {
    run("processes::reopened", &[]);
}

/// Exit handlers may still call the driver when much of the program is already destroyed.
#[test]
#[ignore = "run by the next test in a separate process"]
fn calls_at_exit() {
    extern "C" fn at_exit() {
        let cuda = Cuda::open(&file());
        println!("at exit: {:?}", (cuda.init(), cuda.compute_sevens()[0]));
    }
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> i32;
    }
    // SAFETY: `at_exit` is a static function.
    assert_eq!(unsafe { atexit(at_exit) }, 0);
    let cuda = Cuda::open(&file());
    assert_eq!(cuda.init(), 0);
    // SAFETY: `at_exit` is a static function; this registration runs before the library's own handler.
    assert_eq!(unsafe { atexit(at_exit) }, 0);
    cuda.context();
    // The allocation leaks: the library checks for leaks at exit.
    cuda.allocate(4096);
    std::mem::forget(cuda);
    unsafe extern "C" {
        fn exit(status: i32) -> !;
    }
    // Exits in this thread, whose thread-local variables still exist.
    // SAFETY: the other threads of the test program only wait.
    unsafe { exit(0) };
}

#[test]
fn exit_handlers_may_call_the_driver() {
    let (stdout, stderr) = run("processes::calls_at_exit", &[("CUDA_SIM_CHECK", "leak")]);
    let results = stdout
        .lines()
        .filter(|line| line.contains("at exit: (0, 7.0)"));
    assert_eq!(results.count(), 2, "{stdout}");
    assert!(stderr.contains("4096"), "{stderr}");
}

/// A host function in a stream may not call the driver, which returns an error instead of deadlocking.
#[test]
#[ignore = "run by the next test in a separate process"]
fn calls_in_a_callback() {
    static CUDA: std::sync::OnceLock<Cuda> = std::sync::OnceLock::new();
    static RESULTS: std::sync::Mutex<Vec<Code>> = std::sync::Mutex::new(Vec::new());

    unsafe extern "C" fn in_stream(_: *mut c_void) {
        let cuda = CUDA.get().unwrap();
        let mut address = 0;
        let allocated = call!(cuda, cuMemAlloc_v2(&mut address => *mut u64, 4 => usize));
        let codes = [cuda.device_count().0, allocated];
        RESULTS.lock().unwrap().extend(codes);
    }
    let cuda = CUDA.get_or_init(|| Cuda::open(&file()));
    assert_eq!(cuda.init(), 0);
    cuda.context();
    let launch = |function: Option<unsafe extern "C" fn(*mut c_void)>| {
        let none = null_mut();
        call!(cuda, cuLaunchHostFunc(
            none => *mut c_void, function => Option<unsafe extern "C" fn(*mut c_void)>,
            null_mut() => *mut c_void
        ))
    };
    assert_eq!(launch(Some(in_stream)), 0);
    assert_eq!(launch(None), 1);
    assert_eq!(call!(cuda, cuCtxSynchronize()), 0);
    assert_eq!(*RESULTS.lock().unwrap(), [800, 800]);
    assert_eq!(cuda.compute_sevens(), [7.0; 100]);
}

#[test]
fn callbacks_may_not_call_the_driver() {
    run("processes::calls_in_a_callback", &[]);
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn hundreds_of_contexts() {
    let cuda = Cuda::open(&file());
    assert_eq!(cuda.init(), 0);
    let contexts: Vec<usize> = (0..400)
        .map(|_| {
            let context = cuda.context();
            cuda.load(SAXPY);
            cuda.allocate(1 << 12);
            context as usize
        })
        .collect();
    std::thread::scope(|scope| {
        for part in contexts.chunks(100) {
            let cuda = &cuda;
            scope.spawn(move || {
                for &context in part {
                    let context = std::ptr::without_provenance_mut(context);
                    let destroy = || call!(cuda, cuCtxDestroy_v2(context => *mut c_void));
                    assert_eq!(call!(cuda, cuCtxSetCurrent(context => *mut c_void)), 0);
                    assert_eq!(cuda.device_count().0, 0);
                    assert_eq!([destroy(), destroy()], [0, 709]);
                }
            });
        }
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(cuda.compute_sevens(), [7.0; 100])));
        }
    });
    // The destroyed contexts are still on the first thread's stack.
    let mut address = 0;
    let in_destroyed_context = call!(cuda, cuMemAlloc_v2(&mut address => *mut u64, 4 => usize));
    assert_eq!(in_destroyed_context, 709);
    assert_eq!(cuda.compute_sevens(), [7.0; 100]);
}

#[test]
fn hundreds_of_contexts_and_threads_work() {
    run("processes::hundreds_of_contexts", &[]);
}

#[cfg(unix)]
mod unix {
    use super::*;

    /// Returns the result of `f` in a forked child, which then exits.
    fn forked(f: impl FnOnce() -> Code) -> Code {
        // SAFETY: the child only runs the tested call, and exits without running exit handlers.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(f()),
                run_child => {
                    assert!(run_child > 0);
                    let mut status = 0;
                    assert_eq!(libc::waitpid(run_child, &mut status, 0), run_child);
                    assert!(libc::WIFEXITED(status), "{status:#x}");
                    libc::WEXITSTATUS(status)
                }
            }
        }
    }

    #[test]
    #[ignore = "run by the next test in a separate process"]
    fn forks() {
        const NOT_INITIALIZED: Code = 3;
        let cuda = Cuda::open(&file());
        // A child that was forked before `cuInit` may call it.
        let fresh = forked(|| match (cuda.init(), cuda.compute_sevens()[0]) {
            (0, 7.0) => 0,
            _ => 1,
        });
        assert_eq!(fresh, 0);

        assert_eq!(cuda.init(), 0);
        assert_eq!(cuda.compute_sevens(), [7.0; 100]);
        cuda.context();
        let module = cuda.load(SAXPY);
        let kernel = cuda.kernel(module, c"saxpy");
        // SAFETY: the launch is rejected before the parameters are read.
        let launch = || unsafe { cuda.launch(kernel, 1, 1, [null_mut(); 3].as_mut_ptr()) };
        assert_eq!(forked(launch), NOT_INITIALIZED);
        assert_eq!(forked(|| cuda.init()), NOT_INITIALIZED);
        assert_eq!(forked(|| cuda.device_count().0), NOT_INITIALIZED);
        // Also while another thread is in a call.
        let busy = std::thread::scope(|scope| {
            let other = scope.spawn(|| (0..20).all(|_| cuda.compute_sevens() == [7.0; 100]));
            let results: Vec<Code> = (0..20).map(|_| forked(|| cuda.device_count().0)).collect();
            assert!(other.join().unwrap());
            results
        });
        assert_eq!(busy, [NOT_INITIALIZED; 20]);
        assert_eq!(cuda.compute_sevens(), [7.0; 100], "the parent goes on");
    }

    #[test]
    fn forked_children_are_not_initialized() {
        run("processes::unix::forks", &[]);
    }

    /// A program that handles Ctrl-C itself, as Python does.
    #[test]
    #[ignore = "run by the next test in a separate process"]
    fn is_interrupted() {
        static HANDLED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        extern "C" fn handler(_: i32) {
            HANDLED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
        // SAFETY: the handler only increments an atomic, which is async-signal-safe.
        unsafe { libc::signal(libc::SIGINT, handler as *const () as usize) };
        let cuda = Cuda::open(&file());
        assert_eq!(cuda.init(), 0);
        // An interrupt that arrives outside a launch does not end later launches.
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGINT) };
        assert_eq!(cuda.compute_sevens(), [7.0; 100]);
        cuda.context();
        let endless = c".version 6.4\n.target sm_52\n.address_size 64
            .visible .entry endless() { again: bra again; }";
        let module = cuda.load(endless);
        let kernel = cuda.kernel(module, c"endless");
        let process = std::process::id() as i32;
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            // SAFETY: the signal has a handler.
            unsafe { libc::kill(process, libc::SIGINT) };
        });
        // SAFETY: the kernel has no parameters.
        unsafe { cuda.launch(kernel, 1, 1, null_mut()) };
        let ended = call!(cuda, cuCtxSynchronize());
        assert_eq!(ended, 702, "as one whose time is up");
        assert_eq!(HANDLED.load(std::sync::atomic::Ordering::SeqCst), 2);
        // The program's own handler is restored.
        // SAFETY: the signal has a handler.
        unsafe { libc::raise(libc::SIGINT) };
        assert_eq!(HANDLED.load(std::sync::atomic::Ordering::SeqCst), 3);
        // As after any fault, the device cannot be used again.
        assert_eq!(call!(cuda, cuCtxSynchronize()), 702);
    }

    #[test]
    fn an_interrupt_ends_a_launch_and_reaches_the_program() {
        let unlimited = [("CUDA_SIM_TIME_LIMIT", "none")];
        let (_, stderr) = run("processes::unix::is_interrupted", &unlimited);
        assert!(stderr.contains("the kernel was interrupted"), "{stderr}");
    }
}
