//! What a program does that the driver cannot choose: it forks, closes the library and opens it again, ends in the
//! middle, catches signals. Each case is a process of its own: this test program again, with one test alone.

use std::ffi::{c_char, c_void};
use std::process::Output;
use std::ptr::null_mut;

use super::cuda::{Code, Cuda, SAXPY, child, file};

/// A child with the simulator; it has to end well. What it wrote.
fn run(name: &str, settings: &[(&str, &str)]) -> (String, String) {
    let simulated = [("CUDA_BACKEND", "sim")];
    let Output {
        status,
        stdout,
        stderr,
    } = child(name, &[&simulated, settings].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(stdout), text(stderr));
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

type Count = unsafe extern "C" fn(*mut i32) -> Code;

/// What `cuDeviceGetCount` answers.
fn counted(cuda: &Cuda) -> Code {
    let mut count = 0;
    // SAFETY: its signature.
    unsafe { cuda.get::<Count>("cuDeviceGetCount")(&mut count) }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn opened_again() {
    let first = Cuda::open(&file());
    assert_eq!([first.init(), first.init()], [0, 0], "twice");
    assert_eq!(first.seven(), [7.0; 100]);
    drop(first);
    for _ in 0..3 {
        let again = Cuda::open(&file());
        assert_eq!(again.init(), 0);
        assert_eq!(again.seven(), [7.0; 100]);
    }
}

#[test]
fn a_program_closes_the_library_and_opens_it_again() {
    run("processes::opened_again", &[]);
}

/// At the end of a program, when much of it is gone already, handlers may still call.
#[test]
#[ignore = "run by the next test in a separate process"]
fn calls_at_exit() {
    extern "C" fn at_exit() {
        let cuda = Cuda::open(&file());
        println!("at exit: {:?}", (cuda.init(), cuda.seven()[0]));
    }
    unsafe extern "C" {
        fn atexit(function: extern "C" fn()) -> i32;
    }
    // SAFETY: the function stays.
    assert_eq!(unsafe { atexit(at_exit) }, 0);
    let cuda = Cuda::open(&file());
    assert_eq!(cuda.init(), 0);
    // SAFETY: as above; this one runs before the library's own.
    assert_eq!(unsafe { atexit(at_exit) }, 0);
    cuda.context();
    // The allocation leaks: the library looks for that when the program ends.
    cuda.allocate(4096);
    std::mem::forget(cuda);
    unsafe extern "C" {
        fn exit(status: i32) -> !;
    }
    // The program's end begins in this thread, whose variables are there still.
    // SAFETY: the test's other threads only wait.
    unsafe { exit(0) };
}

#[test]
fn what_a_program_calls_when_it_ends_is_answered() {
    let (stdout, stderr) = run("processes::calls_at_exit", &[("CUDA_SIM_CHECK", "leak")]);
    let answers = stdout
        .lines()
        .filter(|line| line.contains("at exit: (0, 7.0)"));
    assert_eq!(answers.count(), 2, "{stdout}");
    assert!(stderr.contains("4096"), "{stderr}");
}

/// A function in a stream may not call the driver, and says so instead of waiting for it.
#[test]
#[ignore = "run by the next test in a separate process"]
fn calls_in_a_callback() {
    type Launch = unsafe extern "C" fn(
        *mut c_void,
        Option<unsafe extern "C" fn(*mut c_void)>,
        *mut c_void,
    ) -> Code;
    static CUDA: std::sync::OnceLock<Cuda> = std::sync::OnceLock::new();
    static HEARD: std::sync::Mutex<Vec<Code>> = std::sync::Mutex::new(Vec::new());

    unsafe extern "C" fn in_stream(_: *mut c_void) {
        let cuda = CUDA.get().unwrap();
        let mut address = 0;
        // SAFETY: its signature.
        let allocated = unsafe {
            cuda.get::<unsafe extern "C" fn(*mut u64, usize) -> Code>("cuMemAlloc_v2")(
                &mut address,
                4,
            )
        };
        HEARD.lock().unwrap().extend([counted(cuda), allocated]);
    }
    let cuda = CUDA.get_or_init(|| Cuda::open(&file()));
    assert_eq!(cuda.init(), 0);
    cuda.context();
    // SAFETY: its signature; the function may be called at any time.
    unsafe {
        let launch = cuda.get::<Launch>("cuLaunchHostFunc");
        assert_eq!(launch(null_mut(), Some(in_stream), null_mut()), 0);
        assert_eq!(launch(null_mut(), None, null_mut()), 1);
        type Synchronize = unsafe extern "C" fn() -> Code;
        assert_eq!(cuda.get::<Synchronize>("cuCtxSynchronize")(), 0);
    }
    assert_eq!(*HEARD.lock().unwrap(), [800, 800]);
    assert_eq!(cuda.seven(), [7.0; 100]);
}

#[test]
fn a_callback_is_refused_what_it_may_not_do() {
    run("processes::calls_in_a_callback", &[]);
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn hundreds_of_contexts() {
    type One = unsafe extern "C" fn(*mut c_void) -> Code;
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
                    // SAFETY: their signature.
                    unsafe {
                        assert_eq!(cuda.get::<One>("cuCtxSetCurrent")(context), 0);
                        assert_eq!(counted(cuda), 0);
                        assert_eq!(cuda.get::<One>("cuCtxDestroy_v2")(context), 0);
                        assert_eq!(cuda.get::<One>("cuCtxDestroy_v2")(context), 201);
                    }
                }
            });
        }
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| assert_eq!(cuda.seven(), [7.0; 100])));
        }
    });
    // They are still on the first thread's stack, though they are gone.
    let mut address = 0;
    type Allocate = unsafe extern "C" fn(*mut u64, usize) -> Code;
    // SAFETY: its signature.
    let in_one_that_is_gone = unsafe { cuda.get::<Allocate>("cuMemAlloc_v2")(&mut address, 4) };
    assert_eq!(in_one_that_is_gone, 709);
    assert_eq!(cuda.seven(), [7.0; 100]);
}

#[test]
fn contexts_by_the_hundred_and_threads_are_no_trouble() {
    run("processes::hundreds_of_contexts", &[]);
}

#[cfg(unix)]
mod unix {
    use super::*;

    /// What `f` answers in a child of this process, which ends there.
    fn forked(f: impl FnOnce() -> Code) -> Code {
        // SAFETY: the child does nothing but what is tested, and ends without running anything else's end.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(f()),
                child => {
                    assert!(child > 0);
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    assert!(libc::WIFEXITED(status), "{status:#x}");
                    libc::WEXITSTATUS(status)
                }
            }
        }
    }

    #[test]
    #[ignore = "run by the next test in a separate process"]
    fn forks() {
        const NOT_INITIALISED: Code = 3;
        let cuda = Cuda::open(&file());
        // Before `cuInit` a child may call it for itself.
        let fresh = forked(|| match (cuda.init(), cuda.seven()[0]) {
            (0, 7.0) => 0,
            _ => 1,
        });
        assert_eq!(fresh, 0);

        assert_eq!(cuda.init(), 0);
        assert_eq!(cuda.seven(), [7.0; 100]);
        cuda.context();
        let module = cuda.load(SAXPY);
        type Find = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Code;
        let mut kernel = null_mut();
        // SAFETY: its signature.
        unsafe {
            let find = cuda.get::<Find>("cuModuleGetFunction");
            assert_eq!(find(&mut kernel, module, c"saxpy".as_ptr()), 0);
        }
        // SAFETY: it is not run.
        let launch = || unsafe { cuda.launch(kernel, 1, 1, [null_mut(); 3].as_mut_ptr()) };
        assert_eq!(forked(launch), NOT_INITIALISED);
        assert_eq!(forked(|| cuda.init()), NOT_INITIALISED);
        assert_eq!(forked(|| counted(&cuda)), NOT_INITIALISED);
        // Also where another thread was in the middle of a call.
        let busy = std::thread::scope(|scope| {
            let other = scope.spawn(|| (0..20).all(|_| cuda.seven() == [7.0; 100]));
            let answers: Vec<Code> = (0..20).map(|_| forked(|| counted(&cuda))).collect();
            assert!(other.join().unwrap());
            answers
        });
        assert_eq!(busy, [NOT_INITIALISED; 20]);
        assert_eq!(cuda.seven(), [7.0; 100], "the parent goes on");
    }

    #[test]
    fn a_child_is_told_that_nothing_is_initialised() {
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
        // SAFETY: the handler does what a handler may.
        unsafe { libc::signal(libc::SIGINT, handler as *const () as usize) };
        let cuda = Cuda::open(&file());
        assert_eq!(cuda.init(), 0);
        // An interrupt that no launch hears of ends none that comes later.
        // SAFETY: the signal is handled.
        unsafe { libc::raise(libc::SIGINT) };
        assert_eq!(cuda.seven(), [7.0; 100]);
        cuda.context();
        let endless = c".version 6.4\n.target sm_52\n.address_size 64
            .visible .entry endless() { again: bra again; }";
        let module = cuda.load(endless);
        type Find = unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> Code;
        let mut kernel = null_mut();
        // SAFETY: its signature.
        unsafe {
            let find = cuda.get::<Find>("cuModuleGetFunction");
            assert_eq!(find(&mut kernel, module, c"endless".as_ptr()), 0);
        }
        let process = std::process::id() as i32;
        std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(300));
            // SAFETY: the signal is handled.
            unsafe { libc::kill(process, libc::SIGINT) };
        });
        type Synchronize = unsafe extern "C" fn() -> Code;
        // SAFETY: a kernel without parameters.
        let ended = unsafe {
            cuda.launch(kernel, 1, 1, null_mut());
            cuda.get::<Synchronize>("cuCtxSynchronize")()
        };
        assert_eq!(ended, 702, "as one whose time is up");
        assert_eq!(HANDLED.load(std::sync::atomic::Ordering::SeqCst), 2);
        // The program's own handler is back.
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGINT) };
        assert_eq!(HANDLED.load(std::sync::atomic::Ordering::SeqCst), 3);
        assert_eq!(cuda.seven(), [7.0; 100], "in another context");
    }

    #[test]
    fn an_interrupt_ends_a_launch_and_reaches_the_program() {
        let unlimited = [("CUDA_SIM_TIME_LIMIT", "none")];
        let (_, stderr) = run("processes::unix::is_interrupted", &unlimited);
        assert!(stderr.contains("the kernel was interrupted"), "{stderr}");
    }
}
