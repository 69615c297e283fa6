//! Virtual memory management (`cuMemCreate`, `cuMemAddressReserve`, `cuMemMap`): memory is created without an
//! address, addresses are reserved without memory, and memory is mapped to addresses. Where the system allows it, memory can
//! be mapped at several addresses.

use std::collections::BTreeMap;

use super::{CudaError, Devices, Driver};
use crate::memory::shared::SharedFile;

/// The granularity of sizes and addresses in bytes.
pub const GRANULARITY: u64 = 2 << 20;

/// The physical memory and its mappings.
#[derive(Default)]
pub(super) struct VirtualMemory {
    memories: BTreeMap<u64, PhysicalMemory>,
    /// The mappings by start address.
    mappings: BTreeMap<u64, Mapping>,
}

/// The state of a `CUmemGenericAllocationHandle`.
struct PhysicalMemory {
    /// The device that the memory belongs to.
    device: u32,
    size: u64,
    /// The reference count of the handle.
    references: u32,
    /// The addresses of its mappings, all of which show the same memory of the host.
    mapped_at: Vec<u64>,
    /// The contents while the memory is not mapped. Empty if it was never mapped before, or if it has a file.
    contents: Vec<u8>,
    /// The file of memory that other processes can map.
    file: Option<SharedFile>,
    /// True for memory of another process, which takes none of this process's.
    is_imported: bool,
}

struct Mapping {
    memory: u64,
    size: u64,
    /// The devices with access, one bit each.
    access: Devices,
    /// Those of them that may only read.
    read_only: Devices,
}

/// The access of a device to a mapping. Read-only access is not enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingAccess {
    None,
    Read,
    ReadWrite,
}

impl VirtualMemory {
    /// Returns the file of shareable memory of this process.
    pub(super) fn file(&self, handle: u64) -> Option<&SharedFile> {
        let memory = self.memories.get(&handle);
        memory.filter(|memory| !memory.is_imported)?.file.as_ref()
    }

    /// Sets the file of memory that was never mapped.
    pub(super) fn set_file(&mut self, handle: u64, file: SharedFile) {
        if let Some(memory) = self.memories.get_mut(&handle) {
            memory.file = Some(file);
        }
    }

    /// Adds memory of another process.
    pub(super) fn insert_import(&mut self, handle: u64, device: u32, file: SharedFile) {
        let memory = PhysicalMemory {
            device,
            size: file.bytes(),
            references: 1,
            mapped_at: Vec::new(),
            contents: Vec::new(),
            file: Some(file),
            is_imported: true,
        };
        self.memories.insert(handle, memory);
    }
}

impl Driver {
    /// `cuMemAddressReserve`: reserves `bytes` addresses. `alignment` is 0 or a power of two. Fails with
    /// [`CudaError::InvalidValue`] for an invalid size or alignment, and with [`CudaError::OutOfMemory`] if
    /// there is not enough address space.
    pub fn reserve_addresses(&mut self, bytes: u64, alignment: u64) -> Result<u64, CudaError> {
        if !is_granular(bytes) || !(alignment == 0 || alignment.is_power_of_two()) {
            return Err(CudaError::InvalidValue);
        }
        Ok(self.global.reserve(bytes, alignment.max(GRANULARITY))?)
    }

    /// `cuMemAddressFree`: frees a reservation as a whole. Fails with [`CudaError::InvalidValue`] for any
    /// other range, and while memory is mapped there.
    pub fn free_addresses(&mut self, address: u64, bytes: u64) -> Result<(), CudaError> {
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let mappings = &self.virtual_memory.mappings;
        if mappings.range(address..end).next().is_some() {
            return Err(CudaError::InvalidValue);
        }
        Ok(self.global.free_reservation(address, bytes)?)
    }

    /// `cuMemCreate`: allocates `bytes` bytes of physical memory on `device` and returns its handle. Fails with
    /// [`CudaError::InvalidDevice`] if there is no such device, and otherwise with the errors of
    /// [`Driver::reserve_addresses`].
    pub fn create_memory(&mut self, device: u32, bytes: u64) -> Result<u64, CudaError> {
        if !is_granular(bytes) {
            return Err(CudaError::InvalidValue);
        }
        self.check_device(device)?;
        self.global.set_device(device, 0).allocate_unmapped(bytes)?;
        let handle = self.handles.next();
        let memory = PhysicalMemory {
            device,
            size: bytes,
            references: 1,
            mapped_at: Vec::new(),
            contents: Vec::new(),
            file: None,
            is_imported: false,
        };
        self.virtual_memory.memories.insert(handle, memory);
        Ok(handle)
    }

    /// `cuMemRelease`: decrements the reference count of a handle. The memory is freed once it is neither
    /// referenced nor mapped. Fails with [`CudaError::InvalidValue`] for a handle without references.
    pub fn release_memory(&mut self, handle: u64) -> Result<(), CudaError> {
        let memory = self
            .virtual_memory
            .memories
            .get_mut(&handle)
            .filter(|memory| memory.references > 0);
        memory.ok_or(CudaError::InvalidValue)?.references -= 1;
        self.free_unreferenced(handle);
        Ok(())
    }

    /// `cuMemRetainAllocationHandle`: returns the handle of the memory mapped at an address and increments
    /// its reference count. Fails with [`CudaError::InvalidValue`] if nothing is mapped there.
    pub fn retain_memory(&mut self, address: u64) -> Result<u64, CudaError> {
        let handle = self.mapping(address)?.1.memory;
        let memory = self.virtual_memory.memories.get_mut(&handle);
        memory.ok_or(CudaError::InvalidValue)?.references += 1;
        Ok(handle)
    }

    /// Returns the size in bytes of the memory of a handle. Fails with [`CudaError::InvalidValue`] for a
    /// handle without references.
    pub fn memory_size(&self, handle: u64) -> Result<u64, CudaError> {
        let memory = self
            .virtual_memory
            .memories
            .get(&handle)
            .filter(|memory| memory.references > 0);
        Ok(memory.ok_or(CudaError::InvalidValue)?.size)
    }

    /// Returns the device of the memory of a handle. Fails with [`CudaError::InvalidValue`] for a handle
    /// without references.
    pub fn memory_device(&self, handle: u64) -> Result<u32, CudaError> {
        self.memory_size(handle)?;
        let memory = self.virtual_memory.memories.get(&handle);
        Ok(memory.ok_or(CudaError::InvalidValue)?.device)
    }

    /// `cuMemMap`: maps the first `bytes` bytes of a handle's memory to reserved addresses, initially without
    /// access by any device. Fails with [`CudaError::InvalidValue`] for addresses that are not reserved or
    /// already mapped; with [`CudaError::NotSupported`] for more bytes than the memory has, and for memory that is
    /// already mapped if the system cannot map it twice; and with [`CudaError::OutOfMemory`] if the host is out of
    /// memory.
    pub fn map_memory(&mut self, address: u64, bytes: u64, handle: u64) -> Result<(), CudaError> {
        let size = self.memory_size(handle)?;
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let host = self
            .global
            .reserved_host(address, bytes)
            .ok_or(CudaError::InvalidValue)?;
        let virtual_memory = &mut self.virtual_memory;
        let previous = virtual_memory.mappings.range(..end).next_back();
        let overlaps = previous.is_some_and(|(start, previous)| start + previous.size > address);
        if !is_granular(bytes) || !address.is_multiple_of(GRANULARITY) || overlaps {
            return Err(CudaError::InvalidValue);
        }
        if bytes > size {
            return Err(CudaError::NotSupported);
        }
        let memory = virtual_memory
            .memories
            .get_mut(&handle)
            .ok_or(CudaError::InvalidValue)?;
        if let Some(file) = &memory.file {
            self.global.commit_shared_pages(address, bytes, file)?;
        } else if let Some(&other) = memory.mapped_at.first() {
            let is_whole = virtual_memory.mappings.get(&other);
            let is_whole = is_whole.is_some_and(|other| other.size == size && bytes == size);
            if !is_whole || !self.global.alias_pages(address, bytes, other) {
                return Err(CudaError::NotSupported);
            }
        } else {
            self.global.commit_pages(address, bytes)?;
            let contents = std::mem::take(&mut memory.contents);
            let count = contents.len().min(bytes as usize);
            // SAFETY: `commit_pages` made the `bytes` bytes at `host` valid, and without access rights nothing else
            // refers to them.
            unsafe { host.copy_from_nonoverlapping(contents.as_ptr(), count) };
        }
        memory.mapped_at.push(address);
        let mapping = Mapping {
            memory: handle,
            size: bytes,
            access: 0,
            read_only: 0,
        };
        virtual_memory.mappings.insert(address, mapping);
        Ok(())
    }

    /// `cuMemUnmap`: unmaps all mappings in a range of addresses. The memory keeps its contents for its next
    /// mapping. Fails with [`CudaError::InvalidValue`] unless the range is reserved and contains only whole mappings.
    pub fn unmap_memory(&mut self, address: u64, bytes: u64) -> Result<(), CudaError> {
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let is_reserved = self.global.reserved_host(address, bytes).is_some();
        let mappings = &self.virtual_memory.mappings;
        let ends_at = |edge| {
            let previous = mappings.range(..edge).next_back();
            previous.is_none_or(|(start, mapping)| start + mapping.size <= edge)
        };
        if !is_granular(bytes) || !is_reserved || !ends_at(address) || !ends_at(end) {
            return Err(CudaError::InvalidValue);
        }
        let starts: Vec<u64> = mappings
            .range(address..end)
            .map(|(start, _)| *start)
            .collect();
        for start in starts {
            let Some(mapping) = self.virtual_memory.mappings.remove(&start) else {
                continue;
            };
            if mapping.access != 0 {
                self.global.unmap_reserved(start)?;
            }
            let host = self.global.reserved_host(start, mapping.size);
            let memory = self.virtual_memory.memories.get_mut(&mapping.memory);
            if let (Some(host), Some(memory)) = (host, memory) {
                memory.mapped_at.retain(|address| *address != start);
                if memory.references > 0 && memory.mapped_at.is_empty() && memory.file.is_none() {
                    // SAFETY: the mapping's `size` bytes at `host` are still committed, and after the removal
                    // above nothing else refers to them.
                    let bytes = unsafe { std::slice::from_raw_parts(host, mapping.size as usize) };
                    memory.contents = bytes.to_vec();
                }
            }
            self.global.decommit_pages(start, mapping.size);
            self.free_unreferenced(mapping.memory);
        }
        Ok(())
    }

    /// `cuMemSetAccess`: grants or revokes a device's access to the mappings in a range of addresses. Fails
    /// with [`CudaError::InvalidValue`] unless the range consists exactly of whole mappings, and with
    /// [`CudaError::InvalidDevice`] if the device cannot be a peer of a device that has the memory.
    pub fn set_access(
        &mut self,
        address: u64,
        bytes: u64,
        device: u32,
        access: MappingAccess,
    ) -> Result<(), CudaError> {
        self.check_device(device)?;
        let starts = self.mappings_in(address, bytes)?;
        for start in &starts {
            let home = self.memory_home(*start)?;
            if home != device && !self.can_access_peer(device, home)? {
                return Err(CudaError::InvalidDevice);
            }
        }
        for start in starts {
            let home = self.memory_home(start)?;
            let Some(mapping) = self.virtual_memory.mappings.get_mut(&start) else {
                continue;
            };
            let previous = mapping.access;
            let with = |devices: Devices, is_in| match is_in {
                true => devices | 1 << device,
                false => devices & !(1 << device),
            };
            mapping.access = with(previous, access != MappingAccess::None);
            mapping.read_only = with(mapping.read_only, access == MappingAccess::Read);
            let (size, now) = (mapping.size, mapping.access);
            match (previous, now) {
                (0, 0) => {}
                (0, _) => self.global.set_device(home, 0).map_reserved(start, size)?,
                (_, 0) => self.global.unmap_reserved(start)?,
                _ => {}
            }
            self.set_accessible_from(start, now);
        }
        Ok(())
    }

    /// `cuMemGetAccess`: returns the access of a device to the mapping at an address. Fails with
    /// [`CudaError::InvalidValue`] if nothing is mapped there.
    pub fn access(&self, address: u64, device: u32) -> Result<MappingAccess, CudaError> {
        self.check_device(device)?;
        let mapping = self.mapping(address)?.1;
        let is_in = |devices: Devices| devices & (1 << device) != 0;
        Ok(match is_in(mapping.access) {
            true if is_in(mapping.read_only) => MappingAccess::Read,
            true => MappingAccess::ReadWrite,
            false => MappingAccess::None,
        })
    }

    /// Returns the device whose memory is mapped at an address.
    fn memory_home(&self, address: u64) -> Result<u32, CudaError> {
        let memory = self.mapping(address)?.1.memory;
        let memory = self.virtual_memory.memories.get(&memory);
        Ok(memory.ok_or(CudaError::InvalidValue)?.device)
    }

    /// Returns the mapping that contains an address, with its start address.
    fn mapping(&self, address: u64) -> Result<(u64, &Mapping), CudaError> {
        let mut previous = self.virtual_memory.mappings.range(..=address);
        let mapping = previous
            .next_back()
            .filter(|(start, mapping)| address - *start < mapping.size);
        let (start, mapping) = mapping.ok_or(CudaError::InvalidValue)?;
        Ok((*start, mapping))
    }

    /// Returns the start addresses of the mappings that make up a range.
    fn mappings_in(&self, address: u64, bytes: u64) -> Result<Vec<u64>, CudaError> {
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let (mut starts, mut reached) = (Vec::new(), address);
        for (&start, mapping) in self.virtual_memory.mappings.range(address..end) {
            if start != reached {
                break;
            }
            reached = start + mapping.size;
            starts.push(start);
        }
        if starts.is_empty() || reached != end {
            return Err(CudaError::InvalidValue);
        }
        Ok(starts)
    }

    /// Frees a handle's memory if it is neither mapped nor referenced.
    fn free_unreferenced(&mut self, handle: u64) {
        let memories = &mut self.virtual_memory.memories;
        let memory = memories.get(&handle);
        if let Some(memory) = memory
            && memory.references == 0
            && memory.mapped_at.is_empty()
        {
            let (device, bytes, is_imported) = (memory.device, memory.size, memory.is_imported);
            memories.remove(&handle);
            if !is_imported {
                self.global.set_device(device, 0).free_unmapped(bytes);
            }
        }
    }
}

/// Returns true if `bytes` is a valid size: a positive multiple of [`GRANULARITY`].
fn is_granular(bytes: u64) -> bool {
    bytes != 0 && bytes.is_multiple_of(GRANULARITY)
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::super::{DeviceSpec, Memset, MemsetValue, StreamId};
    use super::*;
    use crate::driver::CudaError::*;

    const SIZE: u64 = GRANULARITY;
    const INVALID: Result<(), CudaError> = Err(InvalidValue);

    #[test]
    fn memory_keeps_its_contents_across_mappings() {
        let (mut driver, context) = driver();
        let free = driver.memory_info(context).unwrap().0;
        let range = driver.reserve_addresses(3 * SIZE, 0).unwrap();
        let [first, second] = [0; 2].map(|_| driver.create_memory(0, SIZE).unwrap());
        assert_eq!(driver.memory_info(context).unwrap().0, free - 2 * SIZE);
        driver.map_memory(range, SIZE, first).unwrap();
        driver.map_memory(range + SIZE, SIZE, second).unwrap();
        assert!(driver.allocation(range).is_err(), "no access granted yet");
        assert_eq!(driver.access(range, 0), Ok(MappingAccess::None));
        driver
            .set_access(range, 2 * SIZE, 0, MappingAccess::ReadWrite)
            .unwrap();
        assert_eq!(driver.access(range + SIZE, 0), Ok(MappingAccess::ReadWrite));
        // The fill spans both mappings.
        let fill = Memset {
            address: range + SIZE - 4,
            pitch: 0,
            value: MemsetValue::U8(7),
            width: 8,
            height: 1,
        };
        driver.memset(context, StreamId::LEGACY, &fill).unwrap();
        driver.unmap_memory(range, SIZE).unwrap();
        assert!(driver.allocation(range).is_err());
        driver.map_memory(range + 2 * SIZE, SIZE, first).unwrap();
        driver
            .set_access(range + 2 * SIZE, SIZE, 0, MappingAccess::ReadWrite)
            .unwrap();
        let host = driver.global.host(range + 3 * SIZE - 4, 4).unwrap();
        // SAFETY: `host` returned a pointer to 4 bytes of an allocation.
        assert_eq!(unsafe { host.cast::<[u8; 4]>().read() }, [7; 4]);
        driver
            .set_access(range + SIZE, SIZE, 0, MappingAccess::None)
            .unwrap();
        assert!(driver.allocation(range + SIZE).is_err());

        // Without references, the memory is freed when it is unmapped.
        driver.release_memory(first).unwrap();
        assert_eq!(driver.release_memory(first), INVALID);
        assert_eq!(driver.memory_info(context).unwrap().0, free - 2 * SIZE);
        assert_eq!(driver.free_addresses(range, 3 * SIZE), INVALID);
        driver.unmap_memory(range + SIZE, 2 * SIZE).unwrap();
        assert_eq!(driver.memory_info(context).unwrap().0, free - SIZE);
        driver.release_memory(second).unwrap();
        assert_eq!(driver.memory_info(context).unwrap().0, free);
        driver.free_addresses(range, 3 * SIZE).unwrap();
        assert_eq!(driver.free_addresses(range, 3 * SIZE), INVALID);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn mappings_of_one_memory_show_the_same_bytes() {
        let (mut driver, _) = driver();
        let range = driver.reserve_addresses(3 * SIZE, 0).unwrap();
        let memory = driver.create_memory(0, SIZE).unwrap();
        let value_at = |driver: &Driver, address| driver.read_value(address, 4);
        for start in [range, range + SIZE] {
            driver.map_memory(start, SIZE, memory).unwrap();
            driver
                .set_access(start, SIZE, 0, MappingAccess::ReadWrite)
                .unwrap();
        }
        let host = driver.global.host(range + 8, 4).unwrap();
        // SAFETY: `host` returned a pointer to 4 bytes of an allocation.
        unsafe { host.cast::<u32>().write(51) };
        assert_eq!(value_at(&driver, range + SIZE + 8), Ok(51));
        driver.unmap_memory(range, SIZE).unwrap();
        assert_eq!(
            driver.unmap_memory(range, SIZE),
            Ok(()),
            "nothing is mapped"
        );
        driver.release_memory(memory).unwrap();
        assert_eq!(value_at(&driver, range + SIZE + 8), Ok(51));
        driver.unmap_memory(range + SIZE, 2 * SIZE).unwrap();
        driver.free_addresses(range, 3 * SIZE).unwrap();
    }

    #[test]
    fn reservations_may_exceed_host_memory() {
        let (mut driver, _) = driver();
        let size = 1 << 40;
        let range = driver.reserve_addresses(size, 0).unwrap();
        let other = driver.reserve_addresses(size, 0).unwrap();
        let memory = driver.create_memory(0, SIZE).unwrap();
        // Map the end of one reservation, and then that of the other.
        for last in [range + size - SIZE, other + size - SIZE] {
            driver.map_memory(last, SIZE, memory).unwrap();
            driver
                .set_access(last, SIZE, 0, MappingAccess::ReadWrite)
                .unwrap();
            let host = driver.global.host(last, SIZE).unwrap();
            // SAFETY: `host` returned a pointer to `SIZE` bytes of an allocation.
            unsafe {
                let contents = host.cast::<u32>();
                assert_eq!(contents.read(), if last > other { 7 } else { 0 });
                contents.write(7);
            }
            driver.unmap_memory(last, SIZE).unwrap();
        }
        // New memory is zero.
        let fresh = driver.create_memory(0, SIZE).unwrap();
        driver.map_memory(range + size - SIZE, SIZE, fresh).unwrap();
        let host = driver
            .global
            .reserved_host(range + size - SIZE, SIZE)
            .unwrap();
        // SAFETY: memory is mapped and committed at this address.
        assert_eq!(unsafe { host.read() }, 0);
        driver.unmap_memory(range + size - SIZE, SIZE).unwrap();
        driver.free_addresses(range, size).unwrap();
        driver.free_addresses(other, size).unwrap();
    }

    #[test]
    fn access_needs_peer_capability() {
        for (name, other) in [("gtx280", Err(InvalidDevice)), ("h200", Ok(()))] {
            let device = DeviceSpec::named(name).unwrap();
            let mut driver = Driver::with_devices(2, device.clone(), None);
            let range = driver.reserve_addresses(SIZE, 0).unwrap();
            let memory = driver.create_memory(1, SIZE).unwrap();
            driver.map_memory(range, SIZE, memory).unwrap();
            assert_eq!(
                driver.set_access(range, SIZE, 1, MappingAccess::ReadWrite),
                Ok(())
            );
            assert_eq!(
                driver.set_access(range, SIZE, 0, MappingAccess::ReadWrite),
                other
            );
            let access = driver.access(range, 0).unwrap();
            assert_eq!(access != MappingAccess::None, other.is_ok());
        }
    }

    #[test]
    fn invalid_sizes_addresses_and_handles_are_rejected() {
        let (mut driver, _) = driver();
        for (bytes, alignment) in [(0, 0), (SIZE + 1, 0), (SIZE, 3)] {
            let rejected = driver.reserve_addresses(bytes, alignment);
            assert_eq!(rejected, Err(InvalidValue));
        }
        assert_eq!(driver.create_memory(0, 100), Err(InvalidValue));
        let too_large = 1 << 50;
        assert_eq!(driver.create_memory(0, too_large), Err(OutOfMemory));
        let range = driver.reserve_addresses(2 * SIZE, 0).unwrap();
        let memory = driver.create_memory(0, SIZE).unwrap();
        let too_large = driver.map_memory(range, 2 * SIZE, memory);
        assert_eq!(too_large, Err(NotSupported));
        assert_eq!(driver.map_memory(range + 512, SIZE, memory), INVALID);
        assert_eq!(driver.map_memory(range + 2 * SIZE, SIZE, memory), INVALID);
        assert_eq!(driver.map_memory(range, SIZE, 7), INVALID);
        driver.map_memory(range, SIZE, memory).unwrap();
        let other = driver.create_memory(0, SIZE).unwrap();
        assert_eq!(driver.map_memory(range, SIZE, other), INVALID);
        assert_eq!(
            driver.set_access(range, 2 * SIZE, 0, MappingAccess::ReadWrite),
            INVALID
        );
        assert_eq!(driver.unmap_memory(range, SIZE / 2), INVALID);
        assert_eq!(driver.access(range + SIZE, 0), Err(InvalidValue));
        assert_eq!(driver.retain_memory(range + 5), Ok(memory));
        driver.release_memory(memory).unwrap();
        assert_eq!(driver.memory_size(memory), Ok(SIZE));
        driver.release_memory(memory).unwrap();
        assert_eq!(driver.memory_size(memory), Err(InvalidValue));
    }
}
