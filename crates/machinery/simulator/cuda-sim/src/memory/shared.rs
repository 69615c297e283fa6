//! Memory that several processes map: anonymous files, which processes open through `/proc` or receive as file
//! descriptors. Nothing remains of a file when no process has it open, however the processes end.

#[cfg(not(target_os = "linux"))]
use fallback as system;
#[cfg(target_os = "linux")]
use linux as system;

pub use system::{SharedFile, SharedMapping};

/// The address of a file for other processes: a file descriptor of the process that has created it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileAddress {
    pub process: u32,
    pub descriptor: i32,
    pub id: FileId,
}

/// The identity of a file on this machine. It distinguishes a file from a later one with the same descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    /// The file system.
    pub volume: u64,
    pub number: u64,
}

/// The implementation with `memfd_create`.
#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::ptr::null_mut;

    use super::{FileAddress, FileId};

    /// The start of the names of all these files, by which they are recognized.
    const PREFIX: &str = "warpbook-";

    /// A file in memory.
    #[derive(Debug)]
    pub struct SharedFile {
        file: File,
        /// The name without the prefix.
        name: String,
        bytes: u64,
        id: FileId,
    }

    impl SharedFile {
        /// Creates a file of `bytes` zero bytes. Its name tells the processes that open it its use. Returns `None` if the
        /// system is out of memory or file descriptors.
        pub fn new(name: &str, bytes: u64) -> Option<Self> {
            let c_name = std::ffi::CString::new(format!("{PREFIX}{name}")).ok()?;
            // SAFETY: the name is a C string.
            let descriptor = unsafe { libc::memfd_create(c_name.as_ptr(), libc::MFD_CLOEXEC) };
            if descriptor < 0 {
                return None;
            }
            // SAFETY: the descriptor is new, so nothing else owns it.
            let file = File::from(unsafe { OwnedFd::from_raw_fd(descriptor) });
            file.set_len(bytes).ok()?;
            Self::from_file(file, name)
        }

        /// Opens the file of another process. Returns `None` if that process or the file no longer exists, or if it
        /// belongs to another user.
        pub fn open(address: &FileAddress) -> Option<Self> {
            let FileAddress {
                process,
                descriptor,
                id,
            } = address;
            let path = format!("/proc/{process}/fd/{descriptor}");
            let name = Self::name_at(&path)?;
            let file = File::options().read(true).write(true).open(path).ok()?;
            Self::from_file(file, &name).filter(|file| file.id == *id)
        }

        /// Opens the file of a descriptor of this process, which stays open. Returns `None` if it refers to no such file.
        pub fn from_descriptor(descriptor: i32) -> Option<Self> {
            let name = Self::name_at(&format!("/proc/self/fd/{descriptor}"))?;
            Self::from_file(duplicate(descriptor)?, &name)
        }

        fn from_file(file: File, name: &str) -> Option<Self> {
            let metadata = file.metadata().ok()?;
            Some(Self {
                file,
                name: name.into(),
                bytes: metadata.len(),
                id: FileId {
                    volume: metadata.dev(),
                    number: metadata.ino(),
                },
            })
        }

        /// Returns the name of the file that a descriptor in `/proc` refers to; `None` for all files but ours.
        fn name_at(path: &str) -> Option<String> {
            let target = Path::new(path).read_link().ok()?;
            let name = target.to_str()?.strip_prefix("/memfd:")?;
            let name = name.strip_suffix(" (deleted)").unwrap_or(name);
            Some(name.strip_prefix(PREFIX)?.into())
        }

        /// Returns a new descriptor of the file, which the caller owns.
        pub fn descriptor(&self) -> Option<i32> {
            use std::os::fd::IntoRawFd;

            Some(duplicate(self.file.as_raw_fd())?.into_raw_fd())
        }

        /// Returns the address of the file for other processes, which is valid as long as this value exists.
        pub fn address(&self) -> FileAddress {
            FileAddress {
                process: std::process::id(),
                descriptor: self.file.as_raw_fd(),
                id: self.id,
            }
        }

        /// Returns the name that the file was created with.
        pub fn name(&self) -> &str {
            &self.name
        }

        /// Returns the length in bytes.
        pub fn bytes(&self) -> u64 {
            self.bytes
        }

        /// Returns the identity.
        pub fn id(&self) -> FileId {
            self.id
        }

        /// Opens the same file once more. Returns `None` if the process is out of file descriptors.
        pub fn reopen(&self) -> Option<Self> {
            Some(Self {
                file: self.file.try_clone().ok()?,
                name: self.name.clone(),
                ..*self
            })
        }

        /// Closes a descriptor of any file.
        ///
        /// # Safety
        /// The caller must own the descriptor.
        pub unsafe fn close(descriptor: i32) {
            // SAFETY: the caller owns the descriptor.
            drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }

        /// Maps the file. Returns `None` if that fails.
        pub fn map(self) -> Option<SharedMapping> {
            let bytes = self.bytes;
            self.map_range(0, bytes)
        }

        /// Maps `bytes` bytes of the file from `offset` on, which is a multiple of the page size. Returns `None` if that
        /// fails or the file is shorter.
        pub fn map_range(self, offset: u64, bytes: u64) -> Option<SharedMapping> {
            let end = offset.checked_add(bytes);
            end.filter(|&end| end <= self.bytes)?;
            let start = self.map_pages(null_mut(), offset, bytes, 0)?;
            Some(SharedMapping {
                start,
                bytes,
                file: self,
            })
        }

        /// Maps the first `bytes` bytes of the file over pages. Returns false if that fails.
        ///
        /// # Safety
        /// The caller must own the pages, which must not be in use.
        pub unsafe fn map_over(&self, pages: *mut u8, bytes: u64) -> bool {
            bytes <= self.bytes && self.map_pages(pages, 0, bytes, libc::MAP_FIXED).is_some()
        }

        fn map_pages(&self, at: *mut u8, offset: u64, bytes: u64, more: i32) -> Option<*mut u8> {
            let (bytes, offset) = (usize::try_from(bytes).ok()?, offset.try_into().ok()?);
            // SAFETY: the kernel chooses unused addresses, or, with `MAP_FIXED`, the caller owns the pages that are
            // replaced.
            let start = unsafe {
                libc::mmap(
                    at.cast(),
                    bytes,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | more,
                    self.file.as_raw_fd(),
                    offset,
                )
            };
            (start != libc::MAP_FAILED).then_some(start.cast())
        }
    }

    /// Returns a new file with the same contents, position and flags as a descriptor.
    fn duplicate(descriptor: i32) -> Option<File> {
        // SAFETY: `fcntl` validates the descriptor.
        let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
        // SAFETY: the descriptor is new, so nothing else owns it.
        (copy >= 0).then(|| File::from(unsafe { OwnedFd::from_raw_fd(copy) }))
    }

    /// A mapped file, or a part of one.
    #[derive(Debug)]
    pub struct SharedMapping {
        /// The first address, which is page-aligned.
        pub start: *mut u8,
        pub bytes: u64,
        pub file: SharedFile,
    }

    // SAFETY: the mapping can be used and unmapped from any thread. Accesses to the memory are unsafe and must be
    // synchronized by the code that does them.
    unsafe impl Send for SharedMapping {}
    // SAFETY: shared references only copy the pointer; see `Send` about accesses through it.
    unsafe impl Sync for SharedMapping {}

    impl Drop for SharedMapping {
        fn drop(&mut self) {
            // SAFETY: `start` and the length are those of the mapping that `map` created, and its owner is being dropped.
            unsafe {
                libc::munmap(self.start.cast(), self.bytes as usize);
            }
        }
    }
}

/// The fallback for other systems, on which no memory can be shared: there are no values of these types.
#[cfg(not(target_os = "linux"))]
mod fallback {
    use std::convert::Infallible;

    use super::{FileAddress, FileId};

    /// A file in memory.
    #[derive(Debug)]
    pub struct SharedFile(Infallible);

    impl SharedFile {
        /// Returns `None`.
        pub fn new(_name: &str, _bytes: u64) -> Option<Self> {
            None
        }

        /// Returns `None`.
        pub fn open(_address: &FileAddress) -> Option<Self> {
            None
        }

        /// Returns `None`.
        pub fn from_descriptor(_descriptor: i32) -> Option<Self> {
            None
        }

        /// Returns a new descriptor of the file, which the caller owns.
        pub fn descriptor(&self) -> Option<i32> {
            match self.0 {}
        }

        /// Returns the address of the file for other processes.
        pub fn address(&self) -> FileAddress {
            match self.0 {}
        }

        /// Returns the name that the file was created with.
        pub fn name(&self) -> &str {
            match self.0 {}
        }

        /// Returns the length in bytes.
        pub fn bytes(&self) -> u64 {
            match self.0 {}
        }

        /// Returns the identity.
        pub fn id(&self) -> FileId {
            match self.0 {}
        }

        /// Opens the same file once more.
        pub fn reopen(&self) -> Option<Self> {
            match self.0 {}
        }

        /// Does nothing: no descriptor refers to such a file.
        ///
        /// # Safety
        /// None.
        pub unsafe fn close(_descriptor: i32) {}

        /// Maps the file.
        pub fn map(self) -> Option<SharedMapping> {
            match self.0 {}
        }

        /// Maps a part of the file.
        pub fn map_range(self, _offset: u64, _bytes: u64) -> Option<SharedMapping> {
            match self.0 {}
        }

        /// Maps the first `bytes` bytes of the file over pages.
        ///
        /// # Safety
        /// The caller must own the pages, which must not be in use.
        pub unsafe fn map_over(&self, _pages: *mut u8, _bytes: u64) -> bool {
            match self.0 {}
        }
    }

    /// A mapped file, or a part of one.
    #[derive(Debug)]
    pub struct SharedMapping {
        /// The first address.
        pub start: *mut u8,
        pub bytes: u64,
        pub file: SharedFile,
    }

    // SAFETY: there are no values.
    unsafe impl Send for SharedMapping {}
    // SAFETY: there are no values.
    unsafe impl Sync for SharedMapping {}
}

/// True if memory can be shared on this system.
pub const IS_SUPPORTED: bool = cfg!(target_os = "linux");
