//! Memory, events and pools that two processes share. A test starts a process, the exporter, which starts a second one,
//! the importer: both are this test program again, with one test only.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::cuda::{Code, Cuda, file, run_child};

/// The descriptor of the importer's end of the connection to the exporter.
const SOCKET: &str = "SHARING_SOCKET";

/// A `CUipcMemHandle`, a `CUipcEventHandle` or a `CUmemPoolPtrExportData`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Handle([u8; 64]);

const EMPTY: Handle = Handle([0; 64]);

/// The number of elements of the shared memory.
const N: usize = 2000;
const BYTES: usize = N * size_of::<u32>();

const INVALID_VALUE: Code = 1;
const INVALID_CONTEXT: Code = 201;
const MAP_FAILED: Code = 205;
const INVALID_HANDLE: Code = 400;
const NOT_READY: Code = 600;
const NOT_SUPPORTED: Code = 801;
const UNKNOWN: Code = 999;

/// `CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING`.
const INTERPROCESS: c_uint = 6;

/// PTX with one kernel: `increment(data)` increments an element per thread.
const INCREMENT: &CStr = c"
.version 7.0
.target sm_50
.address_size 64
.visible .entry increment(.param .u64 data) {
    .reg .u32 %r<2>;
    .reg .u64 %rd<3>;
    ld.param.u64 %rd0, [data];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd1, %r0, 4;
    add.u64 %rd2, %rd0, %rd1;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}";

/// The other process.
struct Peer {
    socket: UnixStream,
    child: Option<Child>,
}

impl Peer {
    /// Starts the importer: this program with the ignored test `name`. It inherits the descriptors.
    fn start(name: &str) -> Self {
        let (socket, other) = UnixStream::pair().unwrap();
        let other = inherited(other.into_raw_fd());
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--ignored", "--nocapture"])
            .env(SOCKET, other.to_string())
            .spawn()
            .unwrap();
        // SAFETY: the descriptor is the one just created, which only the child uses.
        unsafe { libc::close(other) };
        Self {
            socket,
            child: Some(child),
        }
    }

    /// Connects the importer to the exporter.
    fn connect() -> Self {
        let socket: RawFd = std::env::var(SOCKET).unwrap().parse().unwrap();
        Self {
            // SAFETY: the exporter has passed the descriptor for this use only.
            socket: unsafe { UnixStream::from_raw_fd(socket) },
            child: None,
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    fn receive<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        self.socket.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn receive_handle(&mut self) -> Handle {
        Handle(self.receive())
    }

    /// Lets the other process continue.
    fn signal(&mut self) {
        self.send(&[1]);
    }

    /// Waits for [`Peer::signal`] of the other process.
    fn wait(&mut self) {
        self.receive::<1>();
    }

    /// Waits until the importer has succeeded.
    fn join(self) {
        let status = self.child.unwrap().wait().unwrap();
        assert!(status.success(), "the importer: {status}");
    }
}

/// Returns a copy of a descriptor that started processes inherit.
fn inherited(descriptor: RawFd) -> RawFd {
    // SAFETY: `dup` validates the descriptor.
    let copy = unsafe { libc::dup(descriptor) };
    assert!(copy >= 0);
    // SAFETY: the caller has passed the descriptor to this function.
    unsafe { libc::close(descriptor) };
    copy
}

/// Runs the ignored test `name` as the exporter. Returns its and the importer's stdout and stderr.
fn run(name: &str, settings: &[(&str, &str)]) -> (String, String) {
    let simulated = [("CUDA_BACKEND", "sim")];
    let output = run_child(name, &[&simulated, settings].concat());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    (stdout, stderr)
}

/// Opens the library, with a context.
fn open() -> Cuda {
    let cuda = Cuda::open(&file());
    assert_eq!(cuda.init(), 0);
    cuda.context();
    cuda
}

impl Cuda {
    /// Sets all elements, and waits for it.
    fn fill(&self, address: u64, value: u32) {
        let codes = [
            call!(self, cuMemsetD32_v2(address => u64, value => c_uint, N => usize)),
            call!(self, cuCtxSynchronize()),
        ];
        assert_eq!(codes, [0, 0]);
    }

    /// Returns the value of all elements.
    fn value(&self, address: u64) -> u32 {
        let mut values = [0; N];
        let to = values.as_mut_ptr().cast();
        let copied =
            call!(self, cuMemcpyDtoH_v2(to => *mut c_void, address => u64, BYTES => usize));
        assert_eq!(copied, 0);
        assert!(values.iter().all(|&value| value == values[0]), "{values:?}");
        values[0]
    }

    /// Adds one to each element with a kernel.
    fn increment(&self, mut address: u64) {
        let kernel = self.kernel(self.load(INCREMENT), c"increment");
        for _ in 0..2 {
            let mut parameters = [(&raw mut address).cast()];
            let threads = N as u32 / 2;
            // SAFETY: the kernel takes one address.
            let launched = unsafe { self.launch(kernel, 1, threads, parameters.as_mut_ptr()) };
            assert_eq!(launched, 0);
            address += BYTES as u64 / 2;
        }
        assert_eq!(call!(self, cuCtxSynchronize()), 0);
    }

    fn stream(&self) -> *mut c_void {
        let mut stream = null_mut();
        let created = call!(self, cuStreamCreate(&mut stream => *mut *mut c_void, 1 => c_uint));
        assert_eq!(created, 0);
        stream
    }

    fn handle(&self, address: u64) -> Result<Handle, Code> {
        let mut handle = EMPTY;
        let to = &mut handle;
        match call!(self, cuIpcGetMemHandle(to => *mut Handle, address => u64)) {
            0 => Ok(handle),
            code => Err(code),
        }
    }

    fn open_memory(&self, handle: Handle, flags: c_uint) -> Result<u64, Code> {
        let mut address = 0;
        let to = &mut address;
        match call!(self, cuIpcOpenMemHandle_v2(to => *mut u64, handle => Handle, flags => c_uint))
        {
            0 => Ok(address),
            code => Err(code),
        }
    }

    fn close_memory(&self, address: u64) -> Code {
        call!(self, cuIpcCloseMemHandle(address => u64))
    }

    fn free(&self, address: u64) -> Code {
        call!(self, cuMemFree_v2(address => u64))
    }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn memory_exporter() {
    let cuda = open();
    let address = cuda.allocate(BYTES);
    let [never_written, small] = [BYTES, 4].map(|bytes| cuda.allocate(bytes));
    cuda.fill(address, 7);
    let handle = cuda.handle(address).unwrap();
    assert_eq!(cuda.handle(address + 256).unwrap().0, handle.0);
    assert_eq!(cuda.handle(1).err(), Some(INVALID_VALUE));
    assert_eq!(cuda.open_memory(handle, 1), Err(INVALID_CONTEXT));
    assert_eq!(cuda.value(address), 7, "still there");
    let mut peer = Peer::start("sharing::memory_importer");
    for address in [address, never_written, small] {
        peer.send(&cuda.handle(address).unwrap().0);
    }
    peer.wait();
    assert_eq!(
        [address, never_written].map(|each| cuda.value(each)),
        [9, 30]
    );
    cuda.increment(address);
    peer.signal();
    peer.wait();
    // The importer still uses the memory.
    for address in [address, never_written, small] {
        assert_eq!(cuda.free(address), 0);
    }
    peer.signal();
    peer.join();
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn memory_importer() {
    let mut peer = Peer::connect();
    let [handle, never_written, small] = [(); 3].map(|()| peer.receive_handle());
    let cuda = open();
    assert_eq!(cuda.open_memory(handle, 0), Err(INVALID_VALUE));
    assert_eq!(cuda.open_memory(EMPTY, 1), Err(INVALID_VALUE));
    let mut garbage = handle;
    garbage.0[20] ^= 1;
    assert_eq!(cuda.open_memory(garbage, 1), Err(INVALID_VALUE));
    let address = cuda.open_memory(handle, 1).unwrap();
    assert_eq!(cuda.open_memory(handle, 1), Ok(address), "opened twice");
    let never_written = cuda.open_memory(never_written, 1).unwrap();
    let small = cuda.open_memory(small, 1).unwrap();

    let (mut base, mut bytes) = (0, 0);
    let range = call!(cuda, cuMemGetAddressRange_v2(
        &mut base => *mut u64, &mut bytes => *mut usize, address + 8 => u64
    ));
    assert_eq!((range, base, bytes), (0, address, BYTES));
    assert_eq!(cuda.handle(address).err(), Some(INVALID_VALUE));
    assert_eq!(cuda.free(address), INVALID_VALUE);
    assert_eq!(cuda.close_memory(address + 256), INVALID_VALUE);
    assert_eq!(cuda.close_memory(0), INVALID_VALUE);

    assert_eq!(cuda.value(address), 7);
    cuda.fill(address, 8);
    cuda.increment(address);
    cuda.fill(never_written, 30);
    peer.signal();
    peer.wait();
    assert_eq!(cuda.value(address), 10);
    peer.signal();
    peer.wait();
    assert_eq!(cuda.value(address), 10, "after it was freed");
    assert_eq!(cuda.open_memory(Handle(handle.0), 1), Err(INVALID_VALUE));
    let closed = [(); 3].map(|()| cuda.close_memory(address));
    assert_eq!(closed, [0, 0, INVALID_VALUE]);
    assert_eq!(cuda.close_memory(small), 0);
    // The last one stays open.
}

#[test]
fn memory_is_shared_in_both_directions() {
    run("sharing::memory_exporter", &[]);
    let checks = [("CUDA_SIM_CHECK", "all")];
    let (_, report) = run("sharing::memory_exporter", &checks);
    for finding in ["uninitialized", "leak", "not freed"] {
        assert!(!report.contains(finding), "{report}");
    }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn ending_exporter() {
    let cuda = open();
    let [address, other] = [BYTES; 2].map(|bytes| cuda.allocate(bytes));
    cuda.fill(address, 7);
    let handles = [address, other].map(|address| cuda.handle(address).unwrap());
    let mut peer = Peer::start("sharing::surviving_importer");
    peer.send(&std::process::id().to_le_bytes());
    handles.iter().for_each(|handle| peer.send(&handle.0));
    peer.wait();
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn surviving_importer() {
    let mut peer = Peer::connect();
    let exporter = u32::from_le_bytes(peer.receive());
    let [handle, other] = [(); 2].map(|()| peer.receive_handle());
    let cuda = open();
    let address = cuda.open_memory(handle, 1).unwrap();
    peer.signal();
    while std::fs::read_link(format!("/proc/{exporter}/exe")).is_ok() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(cuda.value(address), 7);
    cuda.increment(address);
    assert_eq!(cuda.value(address), 8);
    assert_eq!(cuda.open_memory(other, 1), Err(INVALID_VALUE));
    assert_eq!(cuda.close_memory(address), 0);
    println!("survived");
}

#[test]
fn imported_memory_survives_the_exporter() {
    let (stdout, _) = run("sharing::ending_exporter", &[]);
    assert!(stdout.contains("survived"), "{stdout}");
}

/// True if the work of [`Cuda::fill_later`] may continue.
static GATE: AtomicBool = AtomicBool::new(false);

fn open_gate() {
    GATE.store(true, Ordering::Release);
}

impl Cuda {
    fn event(&self, flags: c_uint) -> *mut c_void {
        let mut event = null_mut();
        let to = &mut event;
        assert_eq!(
            call!(self, cuEventCreate(to => *mut *mut c_void, flags => c_uint)),
            0
        );
        event
    }

    fn event_handle(&self, event: *mut c_void) -> Result<Handle, Code> {
        let mut handle = EMPTY;
        let to = &mut handle;
        match call!(self, cuIpcGetEventHandle(to => *mut Handle, event => *mut c_void)) {
            0 => Ok(handle),
            code => Err(code),
        }
    }

    fn open_event(&self, handle: Handle) -> Result<*mut c_void, Code> {
        let mut event = null_mut();
        let to = &mut event;
        match call!(self, cuIpcOpenEventHandle(to => *mut *mut c_void, handle => Handle)) {
            0 => Ok(event),
            code => Err(code),
        }
    }

    fn query(&self, event: *mut c_void) -> Code {
        call!(self, cuEventQuery(event => *mut c_void))
    }

    /// Fills memory in a stream as soon as [`GATE`] is open, and records an event. Closes the gate.
    fn fill_later(&self, stream: *mut c_void, address: u64, value: u32, event: *mut c_void) {
        unsafe extern "C" fn pause(_: *mut c_void) {
            while !GATE.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        GATE.store(false, Ordering::Release);
        let codes = [
            call!(self, cuLaunchHostFunc(
                stream => *mut c_void, pause => unsafe extern "C" fn(*mut c_void),
                null_mut() => *mut c_void
            )),
            call!(self, cuMemsetD32Async(
                address => u64, value => c_uint, N => usize, stream => *mut c_void
            )),
            call!(self, cuEventRecord(event => *mut c_void, stream => *mut c_void)),
        ];
        assert_eq!(codes, [0; 3]);
    }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn event_exporter() {
    let cuda = open();
    let (address, stream) = (cuda.allocate(BYTES), cuda.stream());
    let event = cuda.event(INTERPROCESS);
    let handle = cuda.event_handle(event).unwrap();
    assert_eq!(cuda.event_handle(cuda.event(2)).err(), Some(INVALID_HANDLE));
    assert_eq!(cuda.event_handle(null_mut()).err(), Some(INVALID_VALUE));
    assert_eq!(cuda.open_event(handle), Err(INVALID_CONTEXT));
    let mut peer = Peer::start("sharing::event_importer");
    peer.send(&handle.0);
    peer.send(&cuda.handle(address).unwrap().0);
    peer.wait();
    cuda.fill_later(stream, address, 5, event);
    peer.signal();
    // The importer makes a stream wait for the event.
    peer.wait();
    open_gate();
    // The importer submits a recording.
    peer.wait();
    assert_eq!(cuda.query(event), NOT_READY);
    peer.signal();
    assert_eq!(call!(cuda, cuEventSynchronize(event => *mut c_void)), 0);
    assert_eq!(cuda.value(address), 6);
    assert_eq!(cuda.query(event), 0);
    peer.signal();
    // The importer ends before its event is complete.
    peer.join();
    assert_eq!(call!(cuda, cuEventSynchronize(event => *mut c_void)), 0);
    assert_eq!(call!(cuda, cuEventDestroy_v2(event => *mut c_void)), 0);
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn event_importer() {
    let mut peer = Peer::connect();
    let [handle, memory] = [(); 2].map(|()| peer.receive_handle());
    let cuda = open();
    assert_eq!(cuda.open_event(EMPTY), Err(MAP_FAILED));
    assert_eq!(cuda.open_event(memory), Err(MAP_FAILED));
    let event = cuda.open_event(handle).unwrap();
    assert_eq!(cuda.event_handle(event).err(), Some(INVALID_HANDLE));
    let address = cuda.open_memory(memory, 1).unwrap();
    assert_eq!(cuda.query(event), 0, "never recorded");
    peer.signal();
    peer.wait();
    assert_eq!(cuda.query(event), NOT_READY);
    let stream = cuda.stream();
    let mut value = 0u32;
    let waited = call!(cuda, cuStreamWaitEvent(
        stream => *mut c_void, event => *mut c_void, 0 => c_uint
    ));
    peer.signal();
    let to = (&raw mut value).cast();
    let copied = call!(cuda, cuMemcpyDtoHAsync_v2(
        to => *mut c_void, address => u64, 4 => usize, stream => *mut c_void
    ));
    let synchronized = call!(cuda, cuStreamSynchronize(stream => *mut c_void));
    assert_eq!((waited, copied, synchronized, value), (0, 0, 0, 5));
    assert_eq!(cuda.query(event), 0);
    cuda.fill_later(stream, address, 6, event);
    peer.signal();
    peer.wait();
    open_gate();
    peer.wait();
    cuda.fill_later(stream, address, 7, event);
    // SAFETY: ends the process at once, while work is pending.
    unsafe { libc::_exit(0) };
}

#[test]
fn events_order_work_of_two_processes() {
    let (_, stderr) = run("sharing::event_exporter", &[]);
    assert!(stderr.contains("has ended before an event"), "{stderr}");
}

/// `CUmemAllocationProp`, and the start of `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Properties {
    kind: c_int,
    handle_types: c_int,
    location: [c_int; 2],
    others: [u64; 12],
}

impl Properties {
    /// Pinned memory of device 0 that is shared by file descriptors.
    const SHAREABLE: Self = Self {
        kind: 1,
        handle_types: 1,
        location: [1, 0],
        others: [0; 12],
    };
}

/// The size of created memory: its granularity.
const CREATED: usize = 2 << 20;

impl Cuda {
    fn create(&self, properties: &Properties) -> u64 {
        let mut memory = 0;
        let to = &mut memory;
        let created = call!(self, cuMemCreate(
            to => *mut u64, CREATED => usize, properties => *const Properties, 0 => u64
        ));
        assert_eq!(created, 0);
        memory
    }

    /// Maps created memory with access.
    fn map(&self, memory: u64) -> u64 {
        let mut address = 0;
        let access = [1, 0, 3];
        let codes = [
            call!(self, cuMemAddressReserve(
                &mut address => *mut u64, CREATED => usize, 0 => usize, 0 => u64, 0 => u64
            )),
            call!(self, cuMemMap(
                address => u64, CREATED => usize, 0 => usize, memory => u64, 0 => u64
            )),
            call!(self, cuMemSetAccess(
                address => u64, CREATED => usize, access.as_ptr() => *const c_int, 1 => usize
            )),
        ];
        assert_eq!(codes, [0; 3]);
        address
    }

    fn unmap(&self, address: u64, memory: u64) {
        let unmapped = call!(self, cuMemUnmap(address => u64, CREATED => usize));
        assert_eq!((unmapped, call!(self, cuMemRelease(memory => u64))), (0, 0));
    }

    fn export_memory(&self, memory: u64, kind: c_int, flags: u64) -> Result<c_int, Code> {
        let mut descriptor = -1;
        match call!(self, cuMemExportToShareableHandle(
            &mut descriptor => *mut c_int, memory => u64, kind => c_int, flags => u64
        )) {
            0 => Ok(descriptor),
            code => Err(code),
        }
    }

    fn import_memory(&self, descriptor: c_int) -> Result<u64, Code> {
        let mut memory = 0;
        match call!(self, cuMemImportFromShareableHandle(
            &mut memory => *mut u64, descriptor as usize => usize, 1 => c_int
        )) {
            0 => Ok(memory),
            code => Err(code),
        }
    }

    fn export_pool(&self, pool: *mut c_void) -> Result<c_int, Code> {
        let mut descriptor = -1;
        match call!(self, cuMemPoolExportToShareableHandle(
            &mut descriptor => *mut c_int, pool => *mut c_void, 1 => c_int, 0 => u64
        )) {
            0 => Ok(descriptor),
            code => Err(code),
        }
    }

    fn import_pool(&self, descriptor: c_int) -> Result<*mut c_void, Code> {
        let mut pool = null_mut();
        match call!(self, cuMemPoolImportFromShareableHandle(
            &mut pool => *mut *mut c_void, descriptor as usize => usize, 1 => c_int, 0 => u64
        )) {
            0 => Ok(pool),
            code => Err(code),
        }
    }

    fn allocate_from(&self, pool: *mut c_void) -> Result<u64, Code> {
        let mut address = 0;
        match call!(self, cuMemAllocFromPoolAsync(
            &mut address => *mut u64, BYTES => usize, pool => *mut c_void, null_mut() => *mut c_void
        )) {
            0 => Ok(address),
            code => Err(code),
        }
    }

    fn export_pointer(&self, address: u64) -> Result<Handle, Code> {
        let mut data = EMPTY;
        let to = &mut data;
        match call!(self, cuMemPoolExportPointer(to => *mut Handle, address => u64)) {
            0 => Ok(data),
            code => Err(code),
        }
    }

    fn import_pointer(&self, pool: *mut c_void, data: &Handle) -> Result<u64, Code> {
        let mut address = 0;
        match call!(self, cuMemPoolImportPointer(
            &mut address => *mut u64, pool => *mut c_void, data => *const Handle
        )) {
            0 => Ok(address),
            code => Err(code),
        }
    }

    fn default_pool(&self) -> *mut c_void {
        let mut pool = null_mut();
        let to = &mut pool;
        assert_eq!(
            call!(self, cuDeviceGetDefaultMemPool(to => *mut *mut c_void, 0 => c_int)),
            0
        );
        pool
    }
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn descriptor_exporter() {
    let cuda = open();
    let memory = cuda.create(&Properties::SHAREABLE);
    let address = cuda.map(memory);
    cuda.fill(address, 1);
    let private = cuda.create(&Properties {
        handle_types: 0,
        ..Properties::SHAREABLE
    });
    assert_eq!(cuda.export_memory(private, 1, 0), Err(INVALID_VALUE));
    assert_eq!(cuda.export_memory(memory, 0, 0), Err(INVALID_VALUE));
    assert_eq!(cuda.export_memory(memory, 1, 1), Err(INVALID_VALUE));
    let exported = inherited(cuda.export_memory(memory, 1, 0).unwrap());

    let (mut pool, to_share) = (null_mut(), Properties::SHAREABLE);
    let created = call!(cuda, cuMemPoolCreate(
        &mut pool => *mut *mut c_void, &to_share => *const Properties
    ));
    assert_eq!(created, 0);
    let exported_pool = inherited(cuda.export_pool(pool).unwrap());
    let pooled = cuda.allocate_from(pool).unwrap();
    cuda.fill(pooled, 100);
    assert_eq!(cuda.handle(pooled).err(), Some(INVALID_VALUE));
    assert_eq!(cuda.handle(address).err(), Some(INVALID_VALUE));
    assert_eq!(cuda.export_pool(cuda.default_pool()), Err(INVALID_VALUE));
    let not_shareable = cuda.allocate_from(cuda.default_pool()).unwrap();
    assert_eq!(
        cuda.export_pointer(not_shareable).err(),
        Some(INVALID_VALUE)
    );
    let data = cuda.export_pointer(pooled + 8).unwrap();

    let mut peer = Peer::start("sharing::descriptor_importer");
    for number in [exported, exported_pool] {
        peer.send(&number.to_le_bytes());
        // SAFETY: the descriptor is this program's, and only the importer needs it now.
        unsafe { libc::close(number) };
    }
    peer.send(&data.0);
    peer.wait();
    assert_eq!([address, pooled].map(|each| cuda.value(each)), [3, 102]);
    cuda.unmap(address, memory);
    assert_eq!(cuda.free(pooled), 0);
    peer.signal();
    peer.join();
}

#[test]
#[ignore = "run by the next test in a separate process"]
fn descriptor_importer() {
    let mut peer = Peer::connect();
    let [exported, exported_pool] = [(); 2].map(|()| c_int::from_le_bytes(peer.receive()));
    let data = peer.receive_handle();
    let cuda = open();
    assert_eq!(cuda.import_memory(-1), Err(UNKNOWN));
    assert_eq!(cuda.import_memory(peer.socket.as_raw_fd()), Err(UNKNOWN));
    assert_eq!(cuda.import_memory(exported_pool), Err(NOT_SUPPORTED));
    let memory = cuda.import_memory(exported).unwrap();
    assert_eq!(cuda.export_memory(memory, 1, 0), Err(INVALID_VALUE));
    let address = cuda.map(memory);
    assert_eq!(cuda.import_pool(-1), Err(UNKNOWN));
    let pool = cuda.import_pool(exported_pool).unwrap();
    assert_eq!(cuda.allocate_from(pool), Err(INVALID_VALUE));
    assert_eq!(cuda.export_pool(pool), Err(INVALID_VALUE));
    let other = cuda.default_pool();
    assert_eq!(cuda.import_pointer(other, &data), Err(INVALID_VALUE));
    assert_eq!(cuda.import_pointer(pool, &EMPTY), Err(INVALID_VALUE));
    let pooled = cuda.import_pointer(pool, &data).unwrap();
    assert_eq!(cuda.import_pointer(pool, &data), Ok(pooled));
    assert_eq!([address, pooled].map(|each| cuda.value(each)), [1, 100]);
    for each in [address, pooled] {
        cuda.increment(each);
        cuda.increment(each);
    }
    peer.signal();
    peer.wait();
    assert_eq!([address, pooled].map(|each| cuda.value(each)), [3, 102]);
    cuda.unmap(address, memory);
    assert_eq!(cuda.close_memory(pooled), INVALID_VALUE);
    assert_eq!([cuda.free(pooled), cuda.free(pooled)], [0, INVALID_VALUE]);
    assert_eq!(call!(cuda, cuMemPoolDestroy(pool => *mut c_void)), 0);
}

#[test]
fn created_memory_and_pools_are_shared_by_descriptors() {
    run("sharing::descriptor_exporter", &[]);
}
