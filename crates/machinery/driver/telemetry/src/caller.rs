//! The place in the program from which the calling thread called this library.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// A line of the program's source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Location {
    pub file: String,
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The locations of known call sites.
#[derive(Default)]
pub struct Callers(Mutex<HashMap<Vec<usize>, Option<Location>>>);

impl Callers {
    /// Returns the line of the program that called this library; `None` if the calling code has no line table. `kernel` is the
    /// kernel that the call launches.
    pub fn locate(&self, kernel: Option<&str>) -> Option<Location> {
        let frames = program_frames();
        let mut known = self.0.lock();
        let location = known.entry(frames);
        let frames = location.key().clone();
        location.or_insert_with(|| line_of(&frames, kernel)).clone()
    }
}

/// Returns the innermost return addresses of the calling thread that are outside this library or executable.
#[cfg(unix)]
fn program_frames() -> Vec<usize> {
    /// The maximum number of addresses: inlined functions and launch stubs take none or one.
    const MAX: usize = 4;
    let own = image(program_frames as fn() -> Vec<usize> as usize);
    let mut frames = Vec::new();
    backtrace::trace(|frame| {
        let address = frame.ip() as usize;
        if image(address) != own {
            frames.push(address);
        } else if !frames.is_empty() {
            return false;
        }
        frames.len() < MAX
    });
    frames
}

#[cfg(not(unix))]
fn program_frames() -> Vec<usize> {
    Vec::new()
}

/// Returns the base address of the library or executable that contains an address, or 0.
#[cfg(unix)]
fn image(address: usize) -> usize {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let address = std::ptr::without_provenance(address);
    // SAFETY: `dladdr` accepts any address, and `info` is writable.
    let found = unsafe { libc::dladdr(address, info.as_mut_ptr()) };
    // SAFETY: all fields are plain pointers, which may be null.
    let info = unsafe { info.assume_init() };
    if found == 0 { 0 } else { info.dli_fbase.addr() }
}

/// Returns the line of the first of these frames that is in the program's own source: not in the launch stub that
/// a compiler generates for a kernel, nor in a function of the CUDA headers.
#[cfg(unix)]
fn line_of(frames: &[usize], kernel: Option<&str>) -> Option<Location> {
    // Without a line table, the next frame's would name another call.
    for &address in frames {
        let mut location = None;
        let mut has_lines = false;
        backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| {
            let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) else {
                return;
            };
            has_lines = true;
            let name = symbol
                .name()
                .map(|name| name.to_string())
                .unwrap_or_default();
            if location.is_none() && !is_stub(&name, kernel) && !is_header(file) {
                let file = file.strip_prefix(".").unwrap_or(file);
                location = Some(Location {
                    file: file.display().to_string(),
                    line,
                });
            }
        });
        if location.is_some() || !has_lines {
            return location;
        }
    }
    None
}

#[cfg(not(unix))]
fn line_of(_frames: &[usize], _kernel: Option<&str>) -> Option<Location> {
    None
}

/// Returns true for the function that the compiler generates for launches of `kernel`. In line tables it has the
/// kernel's name without namespaces.
fn is_stub(function: &str, kernel: Option<&str>) -> bool {
    let identifier = |name: &str| {
        let name = name.split(['<', '(']).next().unwrap_or_default();
        name.rsplit("::").next().unwrap_or_default().to_owned()
    };
    function.contains("__device_stub__")
        || kernel.is_some_and(|kernel| identifier(kernel) == identifier(function))
}

/// Returns true for the files of the CUDA runtime's headers, which define templates such as those of `cudaMalloc` and
/// `cudaMemcpyToSymbol`.
fn is_header(file: &Path) -> bool {
    let directory = file.parent().unwrap_or(file);
    directory.ends_with("include/warpbook")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_have_the_name_of_their_kernel() {
        assert!(is_stub("scale<float>", Some("math::scale<float>")));
        assert!(is_stub("_Z20__device_stub__scalePfif", None));
        assert!(!is_stub("main", Some("scale")) && !is_stub("main", None));
    }

    #[test]
    fn headers_are_not_the_program() {
        let header = |path| is_header(Path::new(path));
        assert!(header("/a/include/warpbook/runtime_templates.h"));
        assert!(!header("warpbook/main.cu"));
    }
}
