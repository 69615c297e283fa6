//! NVTX, NVIDIA's annotations of host code. The ranges are reported with `--profile`; marks, categories, colors and
//! names of objects have no effect.
//!
//! A program calls these functions if it includes the headers in `kernels/include/nvtx3`. NVIDIA's own headers define
//! them in the program, as functions that do nothing unless a tool attaches to them. They load the tool that the
//! environment names, which is this process ([`TOOL`]), and call [`InitializeInjectionNvtx2`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use libc::wchar_t;
use telemetry::wire::{Event, RangeTotal};

/// The environment variable with the name of the tool.
pub const TOOL_VARIABLE: &str = "NVTX_INJECTION64_PATH";
/// The name of this process as a tool. It is not a file: the program's `dlopen` opens this process for it.
pub const TOOL: &str = "libcuda-run-nvtx.so";

/// `nvtxEventAttributes_t`.
#[repr(C)]
pub struct EventAttributes {
    version: u16,
    size: u16,
    category: u32,
    color_type: i32,
    color: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_void,
}

/// A domain's number, in the pointer that the program gets as its handle. Null is the default domain.
type Domain = *const c_void;
/// A registered string's number, as a pointer.
type StringHandle = *const c_void;

/// The result of a push or pop that fails.
const NO_RANGE: c_int = -1;

/// A range that has not ended.
struct OpenRange {
    domain: usize,
    name: String,
    started: Instant,
    launches: u64,
}

/// The ranges of this process, except those that threads have pushed.
#[derive(Default)]
struct Ranges {
    totals: Vec<RangeTotal>,
    /// The index in `totals` by domain and name.
    indices: HashMap<(usize, String), usize>,
    /// The ranges between `nvtxRangeStart` and `nvtxRangeEnd`.
    started: HashMap<u64, OpenRange>,
    domains: Vec<String>,
    strings: Vec<String>,
}

static RANGES: Mutex<Option<Ranges>> = Mutex::new(None);

static NEXT_RANGE: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The ranges that this thread has pushed, of all domains.
    static PUSHED: RefCell<Vec<OpenRange>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with the ranges of this process.
fn with_ranges<T>(f: impl FnOnce(&mut Ranges) -> T) -> T {
    let mut ranges = RANGES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    f(ranges.get_or_insert_default())
}

/// Returns an event with the totals of all ranges, or `None` if no range has ended.
pub fn event() -> Option<Event> {
    let totals = with_ranges(|ranges| ranges.totals.clone());
    (!totals.is_empty()).then_some(Event::Ranges(totals))
}

/// Returns the number of launches that the program has requested from the simulator.
fn launches() -> u64 {
    let is_launch = |name: &str| {
        ["cuLaunchKernel", "cuLaunchCooperative", "cuGraphLaunch"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let calls = cuda_driver::functions::calls().filter(|(name, _)| is_launch(name));
    calls.map(|(_, count)| count).sum()
}

impl OpenRange {
    fn new(domain: Domain, name: String) -> OpenRange {
        OpenRange {
            domain: domain.addr(),
            name,
            launches: launches(),
            started: Instant::now(),
        }
    }

    /// Adds the range, which has ended, to the totals.
    fn end(self) {
        let elapsed = self.started.elapsed();
        let launches = launches() - self.launches;
        with_ranges(|ranges| {
            let Ranges {
                totals,
                indices,
                domains,
                ..
            } = ranges;
            let index = indices.entry((self.domain, self.name));
            let index = *index.or_insert_with_key(|(domain, name)| {
                totals.push(RangeTotal {
                    name: name.clone(),
                    domain: registered(domains, *domain),
                    ..RangeTotal::default()
                });
                totals.len() - 1
            });
            let total = &mut totals[index];
            total.count += 1;
            total.milliseconds += elapsed.as_secs_f64() * 1e3;
            total.launches += launches;
        });
    }
}

/// Pushes a range of the calling thread. Returns its depth in its domain.
fn push(domain: Domain, name: String) -> c_int {
    let range = OpenRange::new(domain, name);
    PUSHED.with_borrow_mut(|pushed| {
        let depth = pushed.iter().filter(|other| other.domain == range.domain);
        let depth = depth.count();
        pushed.push(range);
        c_int::try_from(depth).unwrap_or(c_int::MAX)
    })
}

/// Ends the calling thread's newest range of a domain. Returns its depth.
fn pop(domain: Domain) -> c_int {
    let range = PUSHED.with_borrow_mut(|pushed| {
        let is_same = |range: &OpenRange| range.domain == domain.addr();
        let newest = pushed.iter().rposition(is_same)?;
        let depth = pushed[..newest].iter().filter(|range| is_same(range));
        let depth = depth.count();
        Some((depth, pushed.remove(newest)))
    });
    let Some((depth, range)) = range else {
        return NO_RANGE;
    };
    range.end();
    c_int::try_from(depth).unwrap_or(c_int::MAX)
}

/// Starts a range that any thread may end. Returns its identifier.
fn start(domain: Domain, name: String) -> u64 {
    let id = NEXT_RANGE.fetch_add(1, Ordering::Relaxed);
    let range = OpenRange::new(domain, name);
    with_ranges(|ranges| ranges.started.insert(id, range));
    id
}

fn end(id: u64) {
    if let Some(range) = with_ranges(|ranges| ranges.started.remove(&id)) {
        range.end();
    }
}

/// Registers a string. Returns its number, starting with one, as a pointer.
fn register(list: impl FnOnce(&mut Ranges) -> &mut Vec<String>, text: String) -> *const c_void {
    with_ranges(|ranges| {
        let list = list(ranges);
        list.push(text);
        std::ptr::without_provenance(list.len())
    })
}

/// Returns the string that [`register`] has given this number.
fn registered(list: &[String], number: usize) -> Option<String> {
    list.get(number.checked_sub(1)?).cloned()
}

/// Converts a C string; a null pointer is an empty one.
///
/// # Safety
///
/// The pointer must be null or point to a string.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller passes a string.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// Converts a string of wide characters; a null pointer is an empty one.
///
/// # Safety
///
/// The pointer must be null or point to a string.
unsafe fn wide_text(text: *const wchar_t) -> String {
    if text.is_null() {
        return String::new();
    }
    let characters = (0..).map(|index| {
        // SAFETY: the caller passes a string, and the iteration ends at its null character.
        unsafe { *text.add(index) }
    });
    let characters = characters.take_while(|&character| character != 0);
    let characters = characters
        .map(|character| char::from_u32(character as u32).unwrap_or(char::REPLACEMENT_CHARACTER));
    characters.collect()
}

/// Returns the message of a range's attributes.
///
/// # Safety
///
/// The pointer must be null or point to attributes, whose message has the type that they name.
unsafe fn message(attributes: *const EventAttributes) -> String {
    if attributes.is_null() {
        return String::new();
    }
    // SAFETY: the caller passes attributes.
    let attributes = unsafe { &*attributes };
    match attributes.message_type {
        // SAFETY: the type says that the message is a string.
        1 => unsafe { text(attributes.message.cast()) },
        // SAFETY: the type says that the message is a string of wide characters.
        2 => unsafe { wide_text(attributes.message.cast()) },
        3 => with_ranges(|ranges| {
            registered(&ranges.strings, attributes.message.addr()).unwrap_or_default()
        }),
        _ => String::new(),
    }
}

/// Defines exported C functions, and `functions`, which returns their addresses by module and number in NVTX's tables.
/// A function without a number is only called through our header.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? [$($module:literal $number:literal)?] $body:block)*) => {
        $(
            /// NVTX's function of this name.
            ///
            /// # Safety
            ///
            /// The arguments must meet the requirements of NVTX's documentation.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
        )*

        fn functions() -> Vec<(u32, usize, *const ())> {
            vec![$($(($module, $number, $name as *const ()),)?)*]
        }
    };
}

/// The modules of NVTX's functions: those without and with domains.
const MODULES: [u32; 2] = [1, 5];

functions! {
    nvtxRangeStartEx(attributes: *const EventAttributes) -> u64 [1 4] {
        // SAFETY: these are the caller's attributes.
        start(std::ptr::null(), unsafe { message(attributes) })
    }
    nvtxRangeStartA(name: *const c_char) -> u64 [1 5] {
        // SAFETY: this is the caller's string.
        start(std::ptr::null(), unsafe { text(name) })
    }
    nvtxRangeStartW(name: *const wchar_t) -> u64 [1 6] {
        // SAFETY: this is the caller's string.
        start(std::ptr::null(), unsafe { wide_text(name) })
    }
    nvtxRangeEnd(id: u64) [1 7] { end(id); }
    nvtxRangePushEx(attributes: *const EventAttributes) -> c_int [1 8] {
        // SAFETY: these are the caller's attributes.
        push(std::ptr::null(), unsafe { message(attributes) })
    }
    nvtxRangePushA(name: *const c_char) -> c_int [1 9] {
        // SAFETY: this is the caller's string.
        push(std::ptr::null(), unsafe { text(name) })
    }
    nvtxRangePushW(name: *const wchar_t) -> c_int [1 10] {
        // SAFETY: this is the caller's string.
        push(std::ptr::null(), unsafe { wide_text(name) })
    }
    nvtxRangePop() -> c_int [1 11] { pop(std::ptr::null()) }
    nvtxDomainRangeStartEx(domain: Domain, attributes: *const EventAttributes) -> u64 [5 2] {
        // SAFETY: these are the caller's attributes.
        start(domain, unsafe { message(attributes) })
    }
    nvtxDomainRangeEnd(_domain: Domain, id: u64) [5 3] { end(id); }
    nvtxDomainRangePushEx(domain: Domain, attributes: *const EventAttributes) -> c_int [5 4] {
        // SAFETY: these are the caller's attributes.
        push(domain, unsafe { message(attributes) })
    }
    nvtxDomainRangePop(domain: Domain) -> c_int [5 5] { pop(domain) }
    nvtxDomainRegisterStringA(_domain: Domain, string: *const c_char) -> StringHandle [5 10] {
        // SAFETY: this is the caller's string.
        register(|ranges| &mut ranges.strings, unsafe { text(string) })
    }
    nvtxDomainRegisterStringW(_domain: Domain, string: *const wchar_t) -> StringHandle [5 11] {
        // SAFETY: this is the caller's string.
        register(|ranges| &mut ranges.strings, unsafe { wide_text(string) })
    }
    nvtxDomainCreateA(name: *const c_char) -> Domain [5 12] {
        // SAFETY: this is the caller's string.
        register(|ranges| &mut ranges.domains, unsafe { text(name) })
    }
    nvtxDomainCreateW(name: *const wchar_t) -> Domain [5 13] {
        // SAFETY: this is the caller's string.
        register(|ranges| &mut ranges.domains, unsafe { wide_text(name) })
    }
    nvtxDomainDestroy(_domain: Domain) [] {}
    nvtxInitialize(_reserved: *const c_void) [] {}
    nvtxDomainMarkEx(_domain: Domain, _attributes: *const EventAttributes) [] {}
    nvtxMarkEx(_attributes: *const EventAttributes) [] {}
    nvtxMarkA(_message: *const c_char) [] {}
    nvtxMarkW(_message: *const wchar_t) [] {}
    nvtxDomainResourceCreate(_domain: Domain, _attributes: *const c_void) -> *const c_void [] { std::ptr::null() }
    nvtxDomainResourceDestroy(_resource: *const c_void) [] {}
    nvtxDomainNameCategoryA(_domain: Domain, _category: u32, _name: *const c_char) [] {}
    nvtxDomainNameCategoryW(_domain: Domain, _category: u32, _name: *const wchar_t) [] {}
    nvtxNameCategoryA(_category: u32, _name: *const c_char) [] {}
    nvtxNameCategoryW(_category: u32, _name: *const wchar_t) [] {}
    nvtxNameOsThreadA(_thread: u32, _name: *const c_char) [] {}
    nvtxNameOsThreadW(_thread: u32, _name: *const wchar_t) [] {}
    nvtxNameCuDeviceA(_device: c_int, _name: *const c_char) [] {}
    nvtxNameCuDeviceW(_device: c_int, _name: *const wchar_t) [] {}
    nvtxNameCuContextA(_context: *const c_void, _name: *const c_char) [] {}
    nvtxNameCuContextW(_context: *const c_void, _name: *const wchar_t) [] {}
    nvtxNameCuStreamA(_stream: *const c_void, _name: *const c_char) [] {}
    nvtxNameCuStreamW(_stream: *const c_void, _name: *const wchar_t) [] {}
    nvtxNameCuEventA(_event: *const c_void, _name: *const c_char) [] {}
    nvtxNameCuEventW(_event: *const c_void, _name: *const wchar_t) [] {}
    nvtxNameCudaDeviceA(_device: c_int, _name: *const c_char) [] {}
    nvtxNameCudaDeviceW(_device: c_int, _name: *const wchar_t) [] {}
    nvtxNameCudaStreamA(_stream: *const c_void, _name: *const c_char) [] {}
    nvtxNameCudaStreamW(_stream: *const c_void, _name: *const wchar_t) [] {}
    nvtxNameCudaEventA(_event: *const c_void, _name: *const c_char) [] {}
    nvtxNameCudaEventW(_event: *const c_void, _name: *const wchar_t) [] {}
}

/// The function of a program that returns a table of functions for tools.
type GetExportTable = unsafe extern "C" fn(table: u32) -> *const ExportTable;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
pub struct ExportTable {
    struct_size: usize,
    /// Returns an array of the places of a module's function pointers, and its length.
    get_module_function_table: unsafe extern "C" fn(
        module: u32,
        table: *mut *const *mut *const (),
        size: *mut u32,
    ) -> c_int,
}

/// `NVTX_ETID_CALLBACKS`.
const CALLBACKS_TABLE: u32 = 1;

/// Attaches this process's functions to a program that contains NVIDIA's NVTX. Returns one if that is done.
///
/// # Safety
///
/// NVTX must call this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(get_export_table: GetExportTable) -> c_int {
    // SAFETY: NVTX passes this function, and its tables live as long as the program.
    let Some(table) = (unsafe { get_export_table(CALLBACKS_TABLE).as_ref() }) else {
        return 0;
    };
    for module in MODULES {
        let (mut places, mut count) = (std::ptr::null(), 0);
        // SAFETY: both results are writable.
        if unsafe { (table.get_module_function_table)(module, &mut places, &mut count) } == 0 {
            continue;
        }
        let functions = functions().into_iter();
        for (_, number, function) in functions.filter(|(of, ..)| *of == module) {
            if number < count as usize {
                // SAFETY: the array has `count` elements, each a writable place of a pointer to a function of this
                // number's signature.
                unsafe { **places.add(number) = function };
            }
        }
    }
    1
}
