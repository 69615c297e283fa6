//! The place in the program from which the calling thread called this library.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_driver::findings::call_site::{self, Frames, Locator};
use cuda_driver::names::short;
use cuda_driver::{AllocationCall, CallSite};
use parking_lot::Mutex;

/// A call in the program's source.
#[derive(Clone)]
struct Call {
    site: CallSite,
    column: Option<u32>,
}

/// The locations of known call sites.
#[derive(Default)]
pub struct Callers {
    known: Mutex<HashMap<Vec<usize>, Option<Call>>>,
    /// The last allocation of each call.
    allocations: Mutex<HashMap<(CallSite, Option<u32>), AllocationCall>>,
}

/// Lets the findings of checks name the program's calls.
pub fn name_calls() {
    static CALLERS: LazyLock<Callers> = LazyLock::new(Callers::default);
    call_site::set_locator(Locator {
        line: |kernel| CALLERS.locate(kernel),
        allocation: || CALLERS.allocation(),
        frames: program_frames,
        line_of_frames: |frames| CALLERS.line(frames),
    });
}

impl Callers {
    /// Returns the line of the program that called this library; `None` if the calling code has no line table. `kernel` is the
    /// symbol of the kernel that the call launches.
    pub fn locate(&self, kernel: Option<&str>) -> Option<CallSite> {
        Some(self.find(kernel)?.site)
    }

    /// Returns the allocating call that the calling thread is in, and counts it.
    fn allocation(&self) -> Option<AllocationCall> {
        let function = cuda_driver::current_function()?;
        let Call { site, column } = self.find(None)?;
        let mut allocations = self.allocations.lock();
        let call = allocations.entry((site, column));
        let call = call
            .and_modify(|call| call.repetition += 1)
            .or_insert_with_key(|(site, column)| {
                let line = source_line(site).unwrap_or_default();
                let function = match base_name(function) {
                    // The headers define one with the other.
                    "cudaHostAlloc" if line.contains("cudaMallocHost") => "cudaMallocHost",
                    function => function,
                };
                AllocationCall {
                    function: function.to_owned(),
                    variable: variable(&line, *column, function),
                    site: site.clone(),
                    repetition: 1,
                }
            });
        Some(call.clone())
    }

    /// Returns the line of the first frame whose source file exists, unlike those of the C library.
    fn line(&self, frames: &Frames) -> Option<CallSite> {
        let frames = frames.iter().filter(|frame| **frame != 0);
        let mut calls = frames.filter_map(|&frame| call_of(&[frame], None));
        let call = calls.find(|call| Path::new(&call.site.file).exists())?;
        Some(call.site)
    }

    fn find(&self, kernel: Option<&str>) -> Option<Call> {
        /// The maximum number of addresses: inlined functions and launch stubs take none or one.
        const MAX: usize = 4;
        let frames = known_frames();
        let frames = frames
            .into_iter()
            .take(MAX)
            .filter(|frame| *frame != 0)
            .collect();
        let mut known = self.known.lock();
        let call = known.entry(frames);
        let frames = call.key().clone();
        call.or_insert_with(|| call_of(&frames, kernel)).clone()
    }
}

/// Returns the innermost return addresses of the calling thread that are outside this library or executable, followed by
/// zeros. It does not allocate.
#[cfg(unix)]
fn program_frames() -> Frames {
    trace_program().0
}

#[cfg(not(unix))]
fn program_frames() -> Frames {
    Frames::default()
}

/// Returns the frames of [`program_frames`] and the stack address after each.
#[cfg(unix)]
fn trace_program() -> (Frames, Frames) {
    let own = image(program_frames as fn() -> Frames as usize);
    let (mut frames, mut stack) = (Frames::default(), Frames::default());
    let mut count = 0;
    backtrace::trace(|frame| {
        let address = frame.ip() as usize;
        if image(address) != own {
            (frames[count], stack[count]) = (address, frame.sp() as usize);
            count += 1;
        } else if count > 0 {
            return false;
        }
        count < frames.len()
    });
    (frames, stack)
}

/// The frames of an earlier call of a thread.
#[cfg(unix)]
#[derive(Clone, Copy, Default)]
struct KnownFrames {
    /// The position in the stack and the function of this library that was called.
    stack_pointer: usize,
    function: usize,
    frames: Frames,
    stack: Frames,
}

#[cfg(unix)]
impl KnownFrames {
    /// Returns true if all frames have an address in the stack that holds their return address.
    fn is_in_stack(&self) -> bool {
        let mut frames = self.frames.iter().zip(self.stack);
        self.frames[0] != 0
            && frames.all(|(&frame, stack)| {
                // SAFETY: the stack of this thread reaches from the pointer beyond this address, as it did when the
                // frames were found; on other systems than x86-64 the word may hold another value.
                frame == 0
                    || unsafe {
                        std::ptr::with_exposed_provenance::<usize>(stack - size_of::<usize>())
                            .read()
                    } == frame
            })
    }
}

/// Returns the frames of [`program_frames`]. If an earlier call was at the same stack position with the same return
/// addresses, these are its frames, because tracing takes microseconds.
#[cfg(unix)]
#[inline(never)]
fn known_frames() -> Frames {
    thread_local! {
        static KNOWN: Cell<[KnownFrames; 8]> = Cell::default();
    }
    let marker = 0_u8;
    let stack_pointer = (&raw const marker).addr();
    let function = cuda_driver::current_function().map_or(0, |name| name.as_ptr().addr());
    let mut known = KNOWN.get();
    let slot = &mut known[(stack_pointer / 16 + function) % 8];
    let is_known = (slot.stack_pointer, slot.function) == (stack_pointer, function);
    if is_known && slot.is_in_stack() {
        return slot.frames;
    }
    let (frames, stack) = trace_program();
    *slot = KnownFrames {
        stack_pointer,
        function,
        frames,
        stack,
    };
    if slot.is_in_stack() {
        KNOWN.set(known);
    }
    frames
}

#[cfg(not(unix))]
fn known_frames() -> Frames {
    Frames::default()
}

/// The known addresses of a library or executable: all addresses between two of them belong to it too.
#[cfg(unix)]
struct Image {
    base: AtomicUsize,
    first: AtomicUsize,
    last: AtomicUsize,
}

/// Returns the base address of the library or executable that contains an address, or 0. Remembers the images of earlier
/// addresses, because the system searches all symbols of an image.
#[cfg(unix)]
fn image(address: usize) -> usize {
    static KNOWN: [Image; 8] = [const {
        Image {
            base: AtomicUsize::new(0),
            first: AtomicUsize::new(usize::MAX),
            last: AtomicUsize::new(0),
        }
    }; 8];
    let contains = |image: &&Image| {
        (image.first.load(Ordering::Relaxed)..=image.last.load(Ordering::Relaxed))
            .contains(&address)
    };
    if let Some(image) = KNOWN.iter().find(contains) {
        return image.base.load(Ordering::Relaxed);
    }
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: `dladdr` accepts any address, and `info` is writable.
    let found = unsafe { libc::dladdr(std::ptr::without_provenance(address), info.as_mut_ptr()) };
    // SAFETY: all fields are plain pointers, which may be null.
    let info = unsafe { info.assume_init() };
    let base = if found == 0 { 0 } else { info.dli_fbase.addr() };
    let is_same = |image: &&Image| {
        let claimed = (image.base).compare_exchange(0, base, Ordering::Relaxed, Ordering::Relaxed);
        claimed.is_ok() || claimed == Err(base)
    };
    if base != 0
        && let Some(image) = KNOWN.iter().find(is_same)
    {
        image.first.fetch_min(address, Ordering::Relaxed);
        image.last.fetch_max(address, Ordering::Relaxed);
    }
    base
}

/// Returns the call in the first of these frames that is in the program's own source: not in the launch stub that
/// a compiler generates for a kernel, nor in a function of the CUDA headers.
#[cfg(unix)]
fn call_of(frames: &[usize], kernel: Option<&str>) -> Option<Call> {
    let kernel = kernel.map(short);
    // Without a line table, the next frame's would name another call.
    for &address in frames {
        let mut call = None;
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
            if call.is_none() && !is_stub(&name, kernel.as_deref()) && !is_header(file) {
                let file = file.strip_prefix(".").unwrap_or(file);
                let site = CallSite {
                    file: file.display().to_string(),
                    line,
                };
                let column = symbol.colno();
                call = Some(Call { site, column });
            }
        });
        if call.is_some() || !has_lines {
            return call;
        }
    }
    None
}

#[cfg(not(unix))]
fn call_of(_frames: &[usize], _kernel: Option<&str>) -> Option<Call> {
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

/// Returns the text of a line of the program's source, if the file can be read.
fn source_line(site: &CallSite) -> Option<String> {
    /// The size above which a file is not read.
    const MAX_BYTES: u64 = 1 << 22;
    let file = fs::metadata(&site.file).ok()?;
    if !file.is_file() || file.len() > MAX_BYTES {
        return None;
    }
    let text = fs::read_to_string(&site.file).ok()?;
    Some(text.lines().nth(site.line as usize - 1)?.to_owned())
}

/// Returns the pointer that the call of an allocating function sets: its first argument, without `&` and casts. `None`
/// if it is no plain variable or member, or if the line has several calls and the column is unknown.
fn variable(line: &str, column: Option<u32>, function: &str) -> Option<String> {
    let start = (column.unwrap_or(0) as usize).saturating_sub(1);
    let line = line.get(start..).unwrap_or(line);
    let mut calls = line.split(function).skip(1);
    let arguments = calls.next()?.trim_start().strip_prefix('(')?;
    if start == 0 && calls.next().is_some() {
        return None;
    }
    let argument = arguments.split(',').next()?;
    let name = argument.rsplit(['&', '*', '(']).next()?;
    let name = name.trim().trim_end_matches(')');
    let is_plain = |c: char| c.is_alphanumeric() || "_.->[]:".contains(c);
    (argument.contains('&') && !name.is_empty() && name.chars().all(is_plain))
        .then(|| name.to_owned())
}

/// Returns the name of a function as programs write it, without the suffixes of versions and default streams.
pub fn base_name(function: &str) -> &str {
    let name = function.trim_end_matches("_ptsz").trim_end_matches("_ptds");
    match name.rsplit_once("_v") {
        Some((base, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
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
    fn variables_of_allocations_are_read_from_the_source() {
        let of = |line, column| variable(line, column, "cudaMalloc");
        let name = |text: &str| Some(text.to_owned());
        assert_eq!(of("  cudaMalloc(&d_a, n);", None), name("d_a"));
        assert_eq!(
            of("CHECK(cudaMalloc((void **)&m.p[1], 4));", Some(1)),
            name("m.p[1]")
        );
        assert_eq!(
            of("cudaMalloc(reinterpret_cast<void **>(&x), 4);", Some(1)),
            name("x")
        );
        let two = "cudaMalloc(&a, 4); cudaMalloc(&b, 4);";
        assert_eq!(
            [None, Some(20)].map(|column| of(two, column)),
            [None, name("b")]
        );
        assert_eq!(
            of("cudaMalloc(out, 4);", None),
            None,
            "the parameter of a helper"
        );
        assert_eq!(of("allocate();", None), None);
    }

    #[test]
    fn names_lack_versions_and_default_streams() {
        assert_eq!(base_name("cuMemcpyHtoD_v2_ptds"), "cuMemcpyHtoD");
        assert_eq!(base_name("cuMemAlloc_v2"), "cuMemAlloc");
        assert_eq!(base_name("cudaMemcpy"), "cudaMemcpy");
    }

    #[test]
    fn headers_are_not_the_program() {
        let header = |path| is_header(Path::new(path));
        assert!(header("/a/include/warpbook/runtime_templates.h"));
        assert!(!header("warpbook/main.cu"));
    }
}
