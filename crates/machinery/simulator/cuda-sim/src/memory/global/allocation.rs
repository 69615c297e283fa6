//! Live and freed allocations, and the host memory that backs them. An allocation that other processes map too moves to
//! shared memory when it is exported, so that memory that is never exported costs nothing.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::{DeviceAccess, Global, NotAllocated, OutOfMemory, allocation_alignment};
use crate::memory::coverage::{Input, Rows, Stores};
use crate::memory::footprint::AccessFootprint;
use crate::memory::init_bitmap::AtomicInitBitmap;
use crate::memory::lock;
use crate::memory::shared::{SharedFile, SharedMapping};

/// The origin of an allocation, which determines how it is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AllocationKind {
    /// Device memory (`cuMemAlloc`), at an address that the host cannot use.
    Device,
    /// Device memory of a pool (`cuMemAllocAsync`) or of a graph.
    Pool,
    /// Managed memory (`cuMemAllocManaged`), at the same address on host and device.
    Managed,
    /// Page-locked host memory (`cuMemAllocHost`), at the same address on host and device.
    Host,
    /// Physical memory (`cuMemCreate`) that is mapped to a reserved address.
    Mapped,
    /// Host memory of the program that is mapped into the device (`cuMemHostRegister`).
    Registered,
    /// Device memory of another process (`cuIpcOpenMemHandle`, `cuMemPoolImportPointer`).
    Imported,
}

impl AllocationKind {
    /// Returns true if the host can access the memory.
    pub fn is_host_accessible(self) -> bool {
        matches!(self, Self::Managed | Self::Host | Self::Registered)
    }

    /// Returns true for device memory at an address that the host cannot use.
    pub fn is_device_only(self) -> bool {
        matches!(
            self,
            Self::Device | Self::Pool | Self::Mapped | Self::Imported
        )
    }

    /// Returns true if such an allocation takes memory of the device.
    pub(super) fn takes_memory(self) -> bool {
        matches!(self, Self::Device | Self::Pool | Self::Managed | Self::Host)
    }

    /// Returns the name of the function that creates such an allocation.
    pub fn function(self) -> &'static str {
        match self {
            Self::Device => "cuMemAlloc",
            Self::Pool => "cuMemAllocAsync",
            Self::Managed => "cuMemAllocManaged",
            Self::Mapped => "cuMemMap",
            Self::Host => "cuMemAllocHost",
            Self::Registered => "cuMemHostRegister",
            Self::Imported => "cuIpcOpenMemHandle",
        }
    }

    /// Returns the devices that initially have access to such an allocation.
    pub(super) fn access(self) -> DeviceAccess {
        match self {
            Self::Device | Self::Pool | Self::Imported => DeviceAccess::Peers,
            Self::Managed | Self::Host | Self::Registered => DeviceAccess::All,
            Self::Mapped => DeviceAccess::Listed(0),
        }
    }
}

/// A live allocation, as launches and copies use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The first device address.
    pub base: u64,
    /// The length in bytes.
    pub size: u64,
    /// The host memory that holds the contents.
    pub host: *mut u8,
    /// The origin.
    pub kind: AllocationKind,
    /// The device that owns the memory.
    pub owner: u32,
}

/// The description of a live or freed allocation for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationRecord {
    /// The first device address.
    pub base: u64,
    /// The length in bytes.
    pub bytes: u64,
    /// The ordinal among all unnamed allocations in order of creation, counted from 1; 0 if the allocation
    /// has a name.
    pub order: u64,
    /// The name of the module variable that the allocation is for, if any.
    pub name: Option<String>,
    /// The layout of the rows, if the memory is pitched.
    pub rows: Option<Rows>,
    /// The call of the program that made the allocation, if it is known.
    pub call: Option<Arc<AllocationCall>>,
}

/// A line of the program that calls the driver.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallSite {
    pub file: String,
    pub line: u32,
}

/// The call of a program that made an allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationCall {
    /// The name of the function, such as `cudaMalloc`.
    pub function: String,
    /// The pointer that the call sets, as the source names it.
    pub variable: Option<String>,
    pub site: CallSite,
    /// The ordinal of the allocation among those of the same line, counted from 1.
    pub repetition: u64,
}

/// A fill of memory by bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteFill {
    pub value: u8,
    /// The line of the program that filled the memory, if it is known.
    pub source: Option<CallSite>,
}

/// The internal record of a live allocation.
pub struct LiveAllocation {
    /// The length in bytes.
    pub size: u64,
    /// The host memory that holds the contents.
    pub host: *mut u8,
    /// The origin.
    pub kind: AllocationKind,
    /// The device that owns the memory.
    pub owner: u32,
    /// The devices whose kernels can access the memory.
    pub access: DeviceAccess,
    /// The owner of the host memory; `None` if the program or a reservation owns it, or if it is shared.
    pub backing: Option<Backing>,
    /// The owner of host memory that other processes map too.
    pub shared: Option<Arc<SharedMapping>>,
    /// The footprint of the last launch, which the next launch clears and reuses.
    pub touched: Mutex<Option<Arc<AccessFootprint>>>,
    /// The ordinal among all unnamed allocations in order of creation, counted from 1; 0 if the allocation
    /// has a name.
    pub order: u64,
    /// The name of the module variable that the allocation is for, if any.
    pub name: Option<Arc<str>>,
    /// The layout of the rows, if the memory is pitched.
    pub rows: Option<Rows>,
    /// The call of the program that made the allocation, if it is known.
    pub call: Option<Arc<AllocationCall>>,
    /// The bitmap of initialized bytes, if it is tracked.
    pub written: Option<Arc<AtomicInitBitmap>>,
    /// The fill that set all bytes to one value, if it was the last one.
    pub fill: Mutex<Option<ByteFill>>,
    /// The stores of kernels, as far as initialization was tracked.
    pub stores: Mutex<Stores>,
    /// The input, if it is tracked.
    pub input: Option<Arc<Input>>,
    /// The lines of the last copy and the last fill that wrote the input, if they are known.
    pub input_calls: Mutex<[Option<CallSite>; 2]>,
}

impl LiveAllocation {
    /// Creates an allocation of `size` bytes at `host`, whose initialization and input are not tracked.
    pub fn new(size: u64, host: *mut u8, kind: AllocationKind, owner: u32, order: u64) -> Self {
        Self {
            size,
            host,
            kind,
            owner,
            access: kind.access(),
            backing: None,
            shared: None,
            touched: Mutex::default(),
            order,
            name: None,
            rows: None,
            call: None,
            written: None,
            fill: Mutex::default(),
            stores: Mutex::default(),
            input: None,
            input_calls: Mutex::default(),
        }
    }

    /// Returns an empty footprint of the allocation. Reuses the one of the last launch if it is no longer in
    /// use.
    pub fn empty_footprint(&self) -> Arc<AccessFootprint> {
        let mut cached = lock(&self.touched);
        let mut touched = cached
            .take()
            .unwrap_or_else(|| Arc::new(AccessFootprint::new(self.size)));
        match Arc::get_mut(&mut touched) {
            Some(mine) => mine.clear(),
            // A thread of the previous launch still holds a reference.
            None => touched = Arc::new(AccessFootprint::new(self.size)),
        }
        *cached = Some(touched.clone());
        touched
    }

    /// Returns the description of the allocation, which starts at `base`.
    pub fn record(&self, base: u64) -> AllocationRecord {
        AllocationRecord {
            base,
            bytes: self.size,
            order: self.order,
            name: self.name.as_deref().map(str::to_owned),
            rows: self.rows,
            call: self.call.clone(),
        }
    }

    /// Returns the public view of the allocation, which starts at `base`.
    pub fn to_allocation(&self, base: u64) -> Allocation {
        Allocation {
            base,
            size: self.size,
            host: self.host,
            kind: self.kind,
            owner: self.owner,
        }
    }
}

/// The alignment of device allocations in bytes, as on real GPUs.
pub const ALIGNMENT: u64 = 512;

/// Zeroed host memory with an alignment of at least [`ALIGNMENT`].
///
/// The system allocator zeroes memory lazily, page by page, only if the requested alignment is small. For
/// large alignments it clears all memory at once. Therefore this type requests more memory than needed and
/// aligns the start itself.
pub struct Backing {
    start: *mut u8,
    layout: Layout,
    /// The first aligned byte.
    pub aligned: *mut u8,
}

/// The alignment of memory shared with the host, which gets pages of its own so that they can be protected.
const PAGE: u64 = 4096;

impl Backing {
    /// Allocates `bytes` bytes, rounded up to [`ALIGNMENT`]. Returns `None` if the host is out of memory.
    pub fn new(bytes: u64) -> Option<Self> {
        Self::aligned_to(ALIGNMENT, bytes)
    }

    /// Allocates `bytes` bytes in pages that contain nothing else. Returns `None` if the host is out of memory.
    pub fn in_pages(bytes: u64) -> Option<Self> {
        Self::aligned_to(PAGE, bytes)
    }

    fn aligned_to(alignment: u64, bytes: u64) -> Option<Self> {
        let whole = bytes.checked_next_multiple_of(alignment)?;
        let padded = usize::try_from(whole.checked_add(alignment)?).ok()?;
        let layout = Layout::from_size_align(padded, 16).ok()?;
        // SAFETY: `padded` is at least `alignment`, so the layout has a nonzero size, as `alloc_zeroed`
        // requires.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return None;
        }
        let aligned = start.wrapping_add(start.align_offset(alignment as usize));
        Some(Self {
            start,
            layout,
            aligned,
        })
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: `start` was returned by `alloc_zeroed` for `self.layout`, and `drop` runs only once.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// The number of bytes that [`copy_nonzero`] copies at once: those of a page.
const SHARING_PAGE: usize = 4096;

impl Global {
    /// Moves the allocation of device memory that starts at `base` to shared memory, unless it is there already. Returns the
    /// shared memory; `None` if no such allocation starts there. All of the allocation counts as initialized and as used
    /// from then on, because other processes may write and read it. No launch or copy may use the memory during the call.
    pub fn share(&mut self, base: u64) -> Result<Option<Arc<SharedMapping>>, OutOfMemory> {
        let entry = self.entries.get(&base);
        let Some(entry) = entry
            .filter(|entry| matches!(entry.kind, AllocationKind::Device | AllocationKind::Pool))
        else {
            return Ok(None);
        };
        if let Some(shared) = &entry.shared {
            return Ok(Some(shared.clone()));
        }
        let (size, host, owner) = (entry.size, entry.host, entry.owner);
        let file = SharedFile::new(&format!("memory-{owner}"), size);
        let mapping = file.and_then(SharedFile::map);
        let mapping = Arc::new(mapping.ok_or_else(|| self.out_of_memory(size))?);
        // SAFETY: both are `size` bytes, and the mapping is new, so they do not overlap.
        unsafe { copy_nonzero(mapping.start, host, size as usize) };
        if let Some(entry) = self.entries.get_mut(&base) {
            entry.host = mapping.start;
            entry.shared = Some(mapping.clone());
            (entry.backing, entry.written, entry.input) = (None, None, None);
        }
        Ok(Some(mapping))
    }

    /// Maps memory of another process or of an external object, which is memory of the current device. Returns its address.
    pub fn import(&mut self, mapping: SharedMapping) -> Result<u64, OutOfMemory> {
        let bytes = mapping.bytes;
        let (address, past) = self.next_address(bytes, allocation_alignment(bytes))?;
        self.next = past;
        self.allocation_count += 1;
        let (kind, order) = (AllocationKind::Imported, self.allocation_count);
        let entry = LiveAllocation::new(bytes, mapping.start, kind, self.device, order);
        let entry = LiveAllocation {
            shared: Some(Arc::new(mapping)),
            ..entry
        };
        self.entries.insert(address, entry);
        Ok(address)
    }

    /// Unmaps memory that [`Global::import`] mapped at `address`.
    pub fn close_import(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.remove(address, |kind| kind == AllocationKind::Imported)
    }
}

/// Copies the pages that are not zero, so that the others take no memory.
///
/// # Safety
/// `to` must be `bytes` zero bytes, `from` as many readable bytes, and they must not overlap.
unsafe fn copy_nonzero(to: *mut u8, from: *const u8, bytes: usize) {
    for start in (0..bytes).step_by(SHARING_PAGE) {
        let length = SHARING_PAGE.min(bytes - start);
        // SAFETY: the caller guarantees that `from` has `bytes` bytes, of which these are some.
        let page = unsafe { std::slice::from_raw_parts(from.add(start), length) };
        if page.iter().any(|&byte| byte != 0) {
            // SAFETY: the caller guarantees that `to` has `bytes` bytes that do not overlap with those at `from`.
            unsafe {
                to.add(start)
                    .copy_from_nonoverlapping(page.as_ptr(), length)
            };
        }
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_keeps_its_contents_and_is_one_memory() {
        const BYTES: u64 = 10_000;
        let mut global = Global::new(1 << 20);
        let address = global.allocate(BYTES).unwrap();
        global.track_initialization(address);
        let byte = |global: &Global, address, offset| {
            let host = global.host(address, BYTES).unwrap();
            // SAFETY: `host` has `BYTES` bytes, and `offset` is less.
            unsafe { &mut *host.add(offset) }
        };
        *byte(&global, address, 9_999) = 7;
        let shared = global.share(address).unwrap().unwrap();
        assert_eq!(*byte(&global, address, 9_999), 7);
        assert!(global.init_bitmap(address).is_none());
        let again = global.share(address).unwrap().unwrap();
        assert_eq!(again.file.id(), shared.file.id());
        assert!(global.share(address + 8).unwrap().is_none());

        let file = SharedFile::open(&shared.file.address()).unwrap();
        let imported = global.import(file.map().unwrap()).unwrap();
        assert_ne!(imported, address);
        assert_eq!(
            global.free_bytes(),
            (1 << 20) - BYTES,
            "no memory of its own"
        );
        *byte(&global, imported, 5) = 8;
        assert_eq!(*byte(&global, address, 5), 8);
        assert!(global.share(imported).unwrap().is_none());
        assert_eq!(global.free(imported), Err(NotAllocated(imported)));
        let file = shared.file.address();
        drop((shared, again));
        global.free(address).unwrap();
        assert_eq!(global.free_bytes(), 1 << 20);
        assert!(SharedFile::open(&file).is_none(), "the file is closed");
        assert_eq!(*byte(&global, imported, 9_999), 7);
        global.close_import(imported).unwrap();
        assert_eq!(global.close_import(imported), Err(NotAllocated(imported)));
        assert_eq!(global.free_bytes(), 1 << 20);
    }

    #[test]
    fn other_files_cannot_be_imported() {
        assert!(SharedFile::from_descriptor(-1).is_none());
        let file = std::fs::File::open("/dev/null").unwrap();
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&file);
        assert!(SharedFile::from_descriptor(descriptor).is_none());
        let ours = SharedFile::new("name", 5).unwrap();
        let copy = ours.descriptor().unwrap();
        let opened = SharedFile::from_descriptor(copy).unwrap();
        assert_eq!((opened.name(), opened.bytes()), ("name", 5));
        // SAFETY: `descriptor` has returned a descriptor that its caller owns.
        unsafe { libc::close(copy) };
    }
}
