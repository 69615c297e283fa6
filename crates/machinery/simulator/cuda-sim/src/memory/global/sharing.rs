//! Device memory that other processes map too. An allocation moves to shared memory when it is exported, so that memory
//! that is never exported costs nothing.

use std::sync::Arc;

use super::allocation::LiveAllocation;
use super::{AllocationKind, Global, NotAllocated, OutOfMemory, allocation_alignment};
use crate::memory::shared::{SharedFile, SharedMapping};

/// The number of bytes that [`copy_nonzero`] copies at once: those of a page.
const PAGE: usize = 4096;

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
    for start in (0..bytes).step_by(PAGE) {
        let length = PAGE.min(bytes - start);
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
