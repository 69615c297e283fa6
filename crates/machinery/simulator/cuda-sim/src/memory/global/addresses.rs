//! Reserved host addresses without memory. A program may reserve more addresses than the host has memory.

#[cfg(not(unix))]
pub use fallback::AddressRange;
#[cfg(unix)]
pub use unix::AddressRange;

/// The implementation with POSIX `mmap` and `mprotect`: reserved pages are mapped without access permissions.
#[cfg(unix)]
mod unix {
    use std::ffi::c_void;
    use std::ptr::null_mut;

    /// A range of host addresses.
    pub struct AddressRange {
        /// The first address, which is page-aligned.
        pub start: *mut u8,
        bytes: usize,
    }

    impl AddressRange {
        /// Reserves `bytes` addresses. Returns `None` if that fails.
        pub fn new(bytes: u64) -> Option<Self> {
            let bytes = usize::try_from(bytes).ok()?;
            let start = map(null_mut(), bytes, 0)?;
            Some(Self { start, bytes })
        }

        /// Commits zeroed memory to whole pages. Returns false if the host is out of memory.
        ///
        /// # Safety
        /// The pages must be inside the range.
        pub unsafe fn commit(&self, from: u64, bytes: u64) -> bool {
            let start = self.start.wrapping_add(from as usize);
            let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: the caller guarantees that the pages are inside this range, which no other mapping uses.
            let committed = unsafe {
                libc::mmap(
                    start.cast(),
                    bytes as usize,
                    libc::PROT_READ | libc::PROT_WRITE,
                    flags | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            committed != libc::MAP_FAILED
        }

        /// Makes whole pages show the memory of committed pages. Returns false if the system cannot.
        ///
        /// # Safety
        /// The pages must be inside the range, and `bytes` bytes at `source` must be committed pages.
        #[cfg(target_os = "linux")]
        pub unsafe fn alias(&self, from: u64, bytes: u64, source: *mut u8) -> bool {
            let start = self.start.wrapping_add(from as usize);
            // SAFETY: a size of zero duplicates the mapping of shared pages at `source`, over pages of this range.
            let aliased = unsafe {
                libc::mremap(
                    source.cast(),
                    0,
                    bytes as usize,
                    libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                    start.cast::<c_void>(),
                )
            };
            aliased != libc::MAP_FAILED
        }

        /// Returns false: only Linux duplicates mappings.
        ///
        /// # Safety
        /// There are no requirements.
        #[cfg(not(target_os = "linux"))]
        pub unsafe fn alias(&self, _from: u64, _bytes: u64, _source: *mut u8) -> bool {
            false
        }

        /// Returns the memory of whole pages to the system and keeps the addresses reserved.
        ///
        /// # Safety
        /// The pages must be inside the range and must not be in use.
        pub unsafe fn decommit(&self, from: u64, bytes: u64) {
            let start = self.start.wrapping_add(from as usize);
            // If this fails, the pages stay committed, which only costs memory.
            let _ = map(start.cast(), bytes as usize, libc::MAP_FIXED);
        }
    }

    impl Drop for AddressRange {
        fn drop(&mut self) {
            // SAFETY: `start` and `bytes` are those of the mapping that `new` created, and its owner is being
            // dropped.
            unsafe {
                libc::munmap(self.start.cast(), self.bytes);
            }
        }
    }

    /// Maps pages without access permissions and without committing memory: anywhere, or with `MAP_FIXED` over
    /// pages that the caller owns.
    fn map(at: *mut c_void, bytes: usize, more: i32) -> Option<*mut u8> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | more;
        // SAFETY: the kernel chooses unused addresses, or, with `MAP_FIXED`, the caller owns the pages that are
        // replaced.
        let start = unsafe { libc::mmap(at, bytes, libc::PROT_NONE, flags, -1, 0) };
        (start != libc::MAP_FAILED).then_some(start.cast())
    }
}

/// The fallback for systems without `mmap`: allocates memory for the whole range, which the system may
/// provide lazily.
#[cfg(not(unix))]
mod fallback {
    use crate::memory::global::allocation::Backing;

    /// A range of host addresses.
    pub struct AddressRange {
        /// The first address.
        pub start: *mut u8,
        /// The owner of the memory.
        _backing: Backing,
    }

    impl AddressRange {
        /// Reserves `bytes` addresses. Returns `None` if that fails.
        pub fn new(bytes: u64) -> Option<Self> {
            let backing = Backing::new(bytes)?;
            Some(Self {
                start: backing.aligned,
                _backing: backing,
            })
        }

        /// Zeroes the range. Returns true, because the memory is already there.
        ///
        /// # Safety
        /// The bytes must be inside the range.
        pub unsafe fn commit(&self, from: u64, bytes: u64) -> bool {
            let start = self.start.wrapping_add(from as usize);
            // SAFETY: the caller guarantees that the bytes are inside the range, and `_backing` owns memory for
            // all of it.
            unsafe { start.write_bytes(0, bytes as usize) };
            true
        }

        /// Returns false, because pages cannot share memory.
        ///
        /// # Safety
        /// There are no requirements.
        pub unsafe fn alias(&self, _from: u64, _bytes: u64, _source: *mut u8) -> bool {
            false
        }

        /// Does nothing, because the memory cannot be returned in parts.
        ///
        /// # Safety
        /// The bytes must be inside the range.
        pub unsafe fn decommit(&self, _from: u64, _bytes: u64) {}
    }
}
