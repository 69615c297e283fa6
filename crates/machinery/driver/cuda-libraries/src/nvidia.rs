//! NVIDIA's libraries, to which calls are forwarded on a GPU if they are installed.

use std::ffi::c_int;
use std::sync::OnceLock;

use cuda_driver::{Backend, backend, functions as cu, warn};

/// A function pointer with its signature erased.
pub type ErasedFn = unsafe extern "C" fn();

/// A library.
pub struct Library {
    /// Its name in NVIDIA's documentation.
    pub name: &'static str,
    /// The file names of its versions, the newest first.
    pub files: &'static [&'static str],
    /// The packages that contain it: one for pip, and Debian's without its version.
    pub packages: [&'static str; 2],
    /// The status of calls if it is not installed.
    pub missing: c_int,
    /// The status of calls for which the driver returns an error.
    pub execution_failed: c_int,
    pub internal_error: c_int,
    loaded: OnceLock<Option<loaded::Loaded>>,
}

impl Library {
    pub const fn new(
        name: &'static str,
        files: &'static [&'static str],
        packages: [&'static str; 2],
        [missing, execution_failed, internal_error]: [c_int; 3],
    ) -> Self {
        Self {
            name,
            files,
            packages,
            missing,
            execution_failed,
            internal_error,
            loaded: OnceLock::new(),
        }
    }

    /// Returns the library's function with this name; `None`, after one message, if the library is not installed or lacks
    /// it.
    fn function(&self, symbol: &str) -> Option<ErasedFn> {
        let loaded = self.loaded.get_or_init(|| {
            let loaded = loaded::Loaded::open(self.files);
            if loaded.is_none() {
                let [pip, debian] = self.packages;
                warn(format_args!(
                    "{symbol} needs NVIDIA's {} library on a GPU, but none of {} was found; install it with \
                     `pip install {pip}` or the package {debian} of the CUDA Toolkit, and add its folder to \
                     LD_LIBRARY_PATH; or run on the simulator with CUDA_BACKEND=sim",
                    self.name,
                    self.files.join(", "),
                ));
            }
            loaded
        });
        let loaded = loaded.as_ref()?;
        let function = loaded.get(symbol);
        if function.is_none() {
            warn(format_args!(
                "NVIDIA's {} library on this machine lacks {symbol}; a newer version may provide it",
                self.name
            ));
        }
        function
    }
}

/// The function that executes a call.
#[derive(Clone, Copy)]
pub enum Target {
    /// The implementation in this crate, on the simulator.
    Simulator,
    /// NVIDIA's function.
    Nvidia(ErasedFn),
    /// None: NVIDIA's library is not installed, or the driver cannot be used.
    Missing,
}

/// The target of one function, selected by its first call.
pub struct Slot(OnceLock<Target>);

impl Slot {
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the target of the function `symbol`. Initializes the driver if the program has not done so.
    pub fn target(&self, library: &Library, symbol: &str) -> Target {
        if let Some(target) = self.0.get() {
            return *target;
        }
        // SAFETY: `cuInit` may be called at any time.
        unsafe { cu::cuInit(0) };
        match backend() {
            Some(Backend::Simulator) => *self.0.get_or_init(|| Target::Simulator),
            Some(Backend::Gpu) => *self.0.get_or_init(|| {
                let function = library.function(symbol);
                function.map_or(Target::Missing, Target::Nvidia)
            }),
            None => Target::Missing,
        }
    }
}

#[cfg(unix)]
mod loaded {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

    use super::ErasedFn;

    /// A loaded library.
    pub struct Loaded(Library);

    impl Loaded {
        /// Loads the first of these files that exists.
        pub fn open(files: &[&str]) -> Option<Self> {
            // The library's calls of its own functions must not find those of this program, which have the same names.
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            const OWN_FIRST: i32 = 0x8;
            #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
            const OWN_FIRST: i32 = 0;
            let flags = RTLD_NOW | RTLD_LOCAL | OWN_FIRST;
            // SAFETY: NVIDIA's libraries may be loaded at any time.
            let mut libraries = files
                .iter()
                .filter_map(|file| unsafe { Library::open(Some(*file), flags) }.ok());
            libraries.next().map(Self)
        }

        /// Returns the function with this name.
        pub fn get(&self, symbol: &str) -> Option<ErasedFn> {
            // SAFETY: the symbols of NVIDIA's libraries are functions; the caller restores the type.
            let function = unsafe { self.0.get::<ErasedFn>(symbol.as_bytes()) };
            function.ok().map(|function| *function)
        }
    }
}

#[cfg(not(unix))]
mod loaded {
    use super::ErasedFn;

    /// A loaded library: none, because programs run only on Unix.
    pub enum Loaded {}

    impl Loaded {
        pub fn open(_: &[&str]) -> Option<Self> {
            None
        }

        pub fn get(&self, _: &str) -> Option<ErasedFn> {
            match *self {}
        }
    }
}
