//! Device memory that processes share: allocations of this process that others map, and memory of others that is mapped
//! here.

use std::collections::BTreeMap;

use super::{ContextId, CudaError, Driver};
use crate::memory::global::NotAllocated;
use crate::memory::shared::{FileAddress, FileId, SharedFile, SharedMapping};

/// Mapped memory of other processes, by its address.
#[derive(Default)]
pub(super) struct Imports(BTreeMap<u64, Import>);

/// Memory of another process.
struct Import {
    file: FileId,
    context: ContextId,
    origin: ImportOrigin,
    /// The number of calls that must release it.
    references: u32,
}

/// The function that has imported memory, which determines how it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOrigin {
    /// `cuIpcOpenMemHandle`: released with `cuIpcCloseMemHandle`.
    Handle,
    /// `cuMemPoolImportPointer`: freed as an allocation of the pool.
    Pool,
    /// `cuExternalMemoryGetMappedBuffer`: freed as an allocation.
    External,
}

/// An object of `cuImportExternalMemory`.
pub(super) struct ExternalMemory {
    file: SharedFile,
    device: u32,
    /// The length in bytes, which may be less than the file's.
    bytes: u64,
}

impl Driver {
    /// `cuIpcGetMemHandle` and `cuMemPoolExportPointer`: shares the allocation that contains `address`. Returns the address
    /// of its file and its device. Fails with [`CudaError::InvalidValue`] unless the program has allocated it as device
    /// memory, and with [`CudaError::OutOfMemory`] if the host is out of memory or file descriptors.
    pub fn share(&mut self, address: u64) -> Result<(FileAddress, u32), CudaError> {
        let allocation = self.allocation(address)?;
        // The program cannot free a module's variables, so it cannot share them either.
        let owner = self.owner(allocation.base);
        owner.ok_or(CudaError::InvalidValue)?;
        let shared = self.global.share(allocation.base)?;
        let shared = shared.ok_or(CudaError::InvalidValue)?;
        Ok((shared.file.address(), allocation.owner))
    }

    /// `cuIpcOpenMemHandle` and `cuMemPoolImportPointer`: maps memory of another process, which belongs to `device`. Returns
    /// its address, which is the same for all imports of a file in a context. Fails with [`CudaError::InvalidDevice`] if
    /// there is no such device, and with [`CudaError::OutOfMemory`] if the host is out of address space.
    pub fn import(
        &mut self,
        context: ContextId,
        device: u32,
        file: SharedFile,
        origin: ImportOrigin,
    ) -> Result<u64, CudaError> {
        self.context(context)?;
        self.check_device(device)?;
        let id = file.id();
        let mut imports = self.imports.0.iter_mut();
        let same = imports.find(|(_, import)| {
            (import.file, import.context, import.origin) == (id, context, origin)
        });
        if let Some((&address, import)) = same {
            // An H200's driver counts the imports of handles only: the first free releases an allocation of a pool.
            import.references += u32::from(origin == ImportOrigin::Handle);
            return Ok(address);
        }
        let mapping = file.map().ok_or(CudaError::OutOfMemory)?;
        self.add_import(context, device, mapping, origin)
    }

    /// Adds a mapping to the memory of a device. Returns its address.
    fn add_import(
        &mut self,
        context: ContextId,
        device: u32,
        mapping: SharedMapping,
        origin: ImportOrigin,
    ) -> Result<u64, CudaError> {
        let import = Import {
            file: mapping.file.id(),
            context,
            origin,
            references: 1,
        };
        let address = self.global.set_device(device, 0).import(mapping)?;
        self.imports.0.insert(address, import);
        self.set_owner(context, address)
    }

    /// Returns the origin of the imported memory at `address` if [`Driver::free`] releases it.
    pub(super) fn freeable_import(&self, address: u64) -> Option<ImportOrigin> {
        let origin = self.imports.0.get(&address)?.origin;
        (origin != ImportOrigin::Handle).then_some(origin)
    }

    /// `cuIpcCloseMemHandle`: undoes one [`Driver::import`] of this origin. Fails with [`CudaError::InvalidValue`] for an
    /// address that it has not returned.
    pub fn release_import(&mut self, address: u64, origin: ImportOrigin) -> Result<(), CudaError> {
        let import = self.imports.0.get_mut(&address);
        let import = import.filter(|import| import.origin == origin);
        let import = import.ok_or(CudaError::InvalidValue)?;
        import.references -= 1;
        if import.references == 0 {
            self.close_import(address)?;
            self.remove_owner(address);
        }
        Ok(())
    }

    /// Unmaps memory of another process, however often it was imported.
    pub(super) fn close_import(&mut self, address: u64) -> Result<(), NotAllocated> {
        self.imports.0.remove(&address);
        self.global.close_import(address)
    }
}

/// The name of the file of memory that `cuMemCreate` allocates, without its device.
const CREATED: &str = "created-";

// Memory that `cuMemCreate` allocates.
impl Driver {
    /// Makes memory that [`Driver::create_memory`] has created and that was never mapped shareable. Fails with
    /// [`CudaError::OutOfMemory`] if the host is out of memory or file descriptors.
    pub fn make_shareable(&mut self, handle: u64) -> Result<(), CudaError> {
        let (bytes, device) = (self.memory_size(handle)?, self.memory_device(handle)?);
        let file = SharedFile::new(&format!("{CREATED}{device}"), bytes);
        let file = file.ok_or(CudaError::OutOfMemory)?;
        self.virtual_memory.set_file(handle, file);
        Ok(())
    }

    /// `cuMemExportToShareableHandle`: returns a file descriptor of created memory, which the caller owns. Fails with
    /// [`CudaError::InvalidValue`] if the memory is not shareable; memory of another process is not.
    pub fn export_created(&self, handle: u64) -> Result<i32, CudaError> {
        self.memory_size(handle)?;
        let file = self.virtual_memory.file(handle);
        let file = file.ok_or(CudaError::InvalidValue)?;
        file.descriptor().ok_or(CudaError::OperatingSystem)
    }

    /// Returns true if memory of `cuMemCreate` is shareable.
    pub fn is_shareable(&self, handle: u64) -> bool {
        self.virtual_memory.file(handle).is_some()
    }

    /// `cuMemImportFromShareableHandle`: returns a handle of the created memory that a file descriptor refers to. Fails with
    /// [`CudaError::NotSupported`] for a pool and with [`CudaError::Unknown`] for all other descriptors, as an H200's driver does, and with [`CudaError::InvalidDevice`] if
    /// the memory belongs to a device that does not exist here.
    pub fn import_created(&mut self, descriptor: i32) -> Result<u64, CudaError> {
        let file = SharedFile::from_descriptor(descriptor).ok_or(CudaError::Unknown)?;
        let device = file.name().strip_prefix(CREATED);
        let device = device.and_then(|device| device.parse().ok());
        let device: u32 = device.ok_or(CudaError::NotSupported)?;
        self.check_device(device)?;
        let handle = self.handles.next();
        self.virtual_memory.insert_import(handle, device, file);
        Ok(handle)
    }
}

/// The page size, to multiples of which parts of external memory are mapped.
const PAGE: u64 = 4096;

// External memory. Only created memory can be imported: there are no other interfaces that share memory with a simulated
// device.
impl Driver {
    /// `cuImportExternalMemory`: imports created memory through a file descriptor of `cuMemExportToShareableHandle`. Returns
    /// the handle of the first `bytes` bytes. Fails with [`CudaError::Unknown`] for all other descriptors, as an H200's driver
    /// does, with [`CudaError::InvalidValue`] if the memory has fewer bytes, and with [`CudaError::InvalidDevice`] if it
    /// belongs to a device that does not exist here.
    pub fn import_external(&mut self, descriptor: i32, bytes: u64) -> Result<u64, CudaError> {
        let file = SharedFile::from_descriptor(descriptor).ok_or(CudaError::Unknown)?;
        let device = file.name().strip_prefix(CREATED);
        let device = device.and_then(|device| device.parse().ok());
        let device: u32 = device.ok_or(CudaError::Unknown)?;
        self.check_device(device)?;
        if bytes > file.bytes() {
            return Err(CudaError::InvalidValue);
        }
        let handle = self.handles.next();
        let memory = ExternalMemory {
            file,
            device,
            bytes,
        };
        self.external_memory.insert(handle, memory);
        Ok(handle)
    }

    /// `cuExternalMemoryGetMappedBuffer`: maps a part of external memory, which [`Driver::free`] unmaps. Returns its address.
    /// Fails with [`CudaError::InvalidHandle`] for unknown memory, with [`CudaError::InvalidValue`] for a part that is empty
    /// or out of bounds or does not start with a page, and with [`CudaError::OutOfMemory`] if the host is out of address space
    /// or file descriptors.
    pub fn map_external(
        &mut self,
        context: ContextId,
        memory: u64,
        offset: u64,
        bytes: u64,
    ) -> Result<u64, CudaError> {
        self.context(context)?;
        let external = self.external_memory.get(&memory);
        let external = external.ok_or(CudaError::InvalidHandle)?;
        let end = offset.checked_add(bytes);
        let is_inside = end.is_some_and(|end| end <= external.bytes);
        if bytes == 0 || !is_inside || !offset.is_multiple_of(PAGE) {
            return Err(CudaError::InvalidValue);
        }
        let (file, device) = (external.file.reopen(), external.device);
        let mapping = file.and_then(|file| file.map_range(offset, bytes));
        let mapping = mapping.ok_or(CudaError::OutOfMemory)?;
        self.add_import(context, device, mapping, ImportOrigin::External)
    }

    /// `cuDestroyExternalMemory`: parts that are mapped remain. Fails with [`CudaError::InvalidHandle`] for unknown memory.
    pub fn destroy_external(&mut self, memory: u64) -> Result<(), CudaError> {
        let removed = self.external_memory.remove(&memory);
        removed.map(drop).ok_or(CudaError::InvalidHandle)
    }
}
