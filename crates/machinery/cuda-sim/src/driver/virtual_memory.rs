//! Memory and addresses apart (`cuMemCreate`, `cuMemAddressReserve`, `cuMemMap`): memory is made without an address,
//! addresses are reserved without memory, and one is mapped to the other. Memory is at one address at a time here.

use std::collections::BTreeMap;

use super::{CudaError, Devices, Driver};

/// What lengths and addresses are multiples of, in bytes.
pub const GRANULARITY: u64 = 2 << 20;

/// What is made and mapped.
#[derive(Default)]
pub(super) struct VirtualMemory {
    memories: BTreeMap<u64, Memory>,
    /// By their first addresses.
    mappings: BTreeMap<u64, Mapping>,
}

/// What a `CUmemGenericAllocationHandle` stands for.
struct Memory {
    /// The device that it is of.
    device: u32,
    size: u64,
    /// How often it was made or asked for, and not given back.
    holders: u32,
    is_mapped: bool,
    /// What is in it while it is mapped nowhere; nothing where nobody has written.
    kept: Vec<u8>,
}

struct Mapping {
    memory: u64,
    size: u64,
    /// The devices that may reach it, a bit each.
    open_to: Devices,
}

impl Driver {
    /// `cuMemAddressReserve`: `bytes` addresses. `alignment` is 0 or a power of two. [`CudaError::InvalidValue`] for
    /// other numbers, [`CudaError::OutOfMemory`] for more than there are.
    pub fn reserve_addresses(&mut self, bytes: u64, alignment: u64) -> Result<u64, CudaError> {
        if !is_whole(bytes) || !(alignment == 0 || alignment.is_power_of_two()) {
            return Err(CudaError::InvalidValue);
        }
        Ok(self.global.reserve(bytes, alignment.max(GRANULARITY))?)
    }

    /// `cuMemAddressFree`: gives back all of what was reserved at once. [`CudaError::InvalidValue`] for anything
    /// else, and while memory is mapped there.
    pub fn free_addresses(&mut self, address: u64, bytes: u64) -> Result<(), CudaError> {
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let mappings = &self.virtual_memory.mappings;
        if mappings.range(address..end).next().is_some() {
            return Err(CudaError::InvalidValue);
        }
        Ok(self.global.unreserve(address, bytes)?)
    }

    /// `cuMemCreate`: `bytes` bytes of memory of `device`, by a handle. [`CudaError::InvalidDevice`] where there is
    /// none; other errors are those of [`Driver::reserve_addresses`].
    pub fn create_memory(&mut self, device: u32, bytes: u64) -> Result<u64, CudaError> {
        if !is_whole(bytes) {
            return Err(CudaError::InvalidValue);
        }
        self.check_device(device)?;
        self.global.seen_by(device, 0).take(bytes)?;
        let handle = self.handles.next();
        let memory = Memory {
            device,
            size: bytes,
            holders: 1,
            is_mapped: false,
            kept: Vec::new(),
        };
        self.virtual_memory.memories.insert(handle, memory);
        Ok(handle)
    }

    /// `cuMemRelease`: the caller holds the memory no more. It goes when it is mapped nowhere and nobody holds it.
    /// [`CudaError::InvalidValue`] for what nobody holds.
    pub fn release_memory(&mut self, handle: u64) -> Result<(), CudaError> {
        let memory = self.virtual_memory.memories.get_mut(&handle);
        let memory = memory.filter(|memory| memory.holders > 0);
        memory.ok_or(CudaError::InvalidValue)?.holders -= 1;
        self.drop_unused(handle);
        Ok(())
    }

    /// `cuMemRetainAllocationHandle`: the memory that is mapped at an address, which the caller holds then too.
    /// [`CudaError::InvalidValue`] where there is none.
    pub fn hold_memory(&mut self, address: u64) -> Result<u64, CudaError> {
        let handle = self.mapping(address)?.1.memory;
        let memory = self.virtual_memory.memories.get_mut(&handle);
        memory.ok_or(CudaError::InvalidValue)?.holders += 1;
        Ok(handle)
    }

    /// The bytes of a memory that somebody holds. [`CudaError::InvalidValue`] for any other.
    pub fn memory_size(&self, handle: u64) -> Result<u64, CudaError> {
        let memory = self.virtual_memory.memories.get(&handle);
        let memory = memory.filter(|memory| memory.holders > 0);
        Ok(memory.ok_or(CudaError::InvalidValue)?.size)
    }

    /// The device that a memory somebody holds is of. [`CudaError::InvalidValue`] for any other.
    pub fn memory_device(&self, handle: u64) -> Result<u32, CudaError> {
        self.memory_size(handle)?;
        let memory = self.virtual_memory.memories.get(&handle);
        Ok(memory.ok_or(CudaError::InvalidValue)?.device)
    }

    /// `cuMemMap`: maps the first `bytes` bytes of a memory to reserved addresses. Nobody may reach it yet.
    /// [`CudaError::InvalidValue`] for addresses that are not reserved or have memory already, or for more than the
    /// memory has; [`CudaError::NotSupported`] for memory that is mapped somewhere already;
    /// [`CudaError::OutOfMemory`] where the host has no more.
    pub fn map_memory(&mut self, address: u64, bytes: u64, handle: u64) -> Result<(), CudaError> {
        let size = self.memory_size(handle)?;
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let host = self.global.window(address, bytes);
        let host = host.ok_or(CudaError::InvalidValue)?;
        let virtual_memory = &mut self.virtual_memory;
        let before = virtual_memory.mappings.range(..end).next_back();
        let taken = before.is_some_and(|(start, before)| start + before.size > address);
        if !is_whole(bytes) || !address.is_multiple_of(GRANULARITY) || bytes > size || taken {
            return Err(CudaError::InvalidValue);
        }
        let memory = virtual_memory.memories.get_mut(&handle);
        let memory = memory.ok_or(CudaError::InvalidValue)?;
        if memory.is_mapped {
            return Err(CudaError::NotSupported);
        }
        self.global.fill_window(address, bytes)?;
        memory.is_mapped = true;
        let kept = std::mem::take(&mut memory.kept);
        // SAFETY: the window has `bytes` bytes at `host`, which nobody reaches while nothing is open there.
        unsafe {
            host.copy_from_nonoverlapping(kept.as_ptr(), kept.len().min(bytes as usize));
        }
        let mapping = Mapping {
            memory: handle,
            size: bytes,
            open_to: 0,
        };
        virtual_memory.mappings.insert(address, mapping);
        Ok(())
    }

    /// `cuMemUnmap`: takes away what is mapped in a range of addresses, in whole mappings. What is in the memory
    /// stays, for when it is mapped again. [`CudaError::InvalidValue`] unless the range is full of whole mappings.
    pub fn unmap_memory(&mut self, address: u64, bytes: u64) -> Result<(), CudaError> {
        for start in self.whole_mappings(address, bytes)? {
            let Some(mapping) = self.virtual_memory.mappings.remove(&start) else {
                continue;
            };
            if mapping.open_to != 0 {
                self.global.close(start)?;
            }
            let host = self.global.window(start, mapping.size);
            let memory = self.virtual_memory.memories.get_mut(&mapping.memory);
            if let (Some(host), Some(memory)) = (host, memory) {
                memory.is_mapped = false;
                if memory.holders > 0 {
                    // SAFETY: the window has so many bytes there, which nobody reaches any more.
                    let bytes = unsafe { std::slice::from_raw_parts(host, mapping.size as usize) };
                    memory.kept = bytes.to_vec();
                }
            }
            self.global.empty_window(start, mapping.size);
            self.drop_unused(mapping.memory);
        }
        Ok(())
    }

    /// `cuMemSetAccess`: lets a device reach what is mapped in a range of addresses, or not.
    /// [`CudaError::InvalidValue`] unless the range is full of whole mappings, [`CudaError::InvalidDevice`] where the
    /// device can be no peer of one that has the memory.
    pub fn set_access(
        &mut self,
        address: u64,
        bytes: u64,
        device: u32,
        open: bool,
    ) -> Result<(), CudaError> {
        self.check_device(device)?;
        let starts = self.whole_mappings(address, bytes)?;
        for start in &starts {
            let home = self.home_of(*start)?;
            if home != device && !self.can_access_peer(device, home)? {
                return Err(CudaError::InvalidDevice);
            }
        }
        for start in starts {
            let home = self.home_of(start)?;
            let Some(mapping) = self.virtual_memory.mappings.get_mut(&start) else {
                continue;
            };
            let before = mapping.open_to;
            mapping.open_to = match open {
                true => before | 1 << device,
                false => before & !(1 << device),
            };
            let (size, now) = (mapping.size, mapping.open_to);
            match (before, now) {
                (0, 0) => {}
                (0, _) => self.global.seen_by(home, 0).open(start, size)?,
                (_, 0) => self.global.close(start)?,
                _ => {}
            }
            self.open_to(start, now);
        }
        Ok(())
    }

    /// `cuMemGetAccess`: whether a device may reach what is mapped at an address. [`CudaError::InvalidValue`]
    /// where nothing is.
    pub fn access(&self, address: u64, device: u32) -> Result<bool, CudaError> {
        self.check_device(device)?;
        Ok(self.mapping(address)?.1.open_to & (1 << device) != 0)
    }

    /// The device whose memory is mapped at an address.
    fn home_of(&self, address: u64) -> Result<u32, CudaError> {
        let memory = self.mapping(address)?.1.memory;
        let memory = self.virtual_memory.memories.get(&memory);
        Ok(memory.ok_or(CudaError::InvalidValue)?.device)
    }

    /// The mapping that an address is in, and its first address.
    fn mapping(&self, address: u64) -> Result<(u64, &Mapping), CudaError> {
        let mut before = self.virtual_memory.mappings.range(..=address);
        let found = before.next_back();
        let found = found.filter(|(start, mapping)| address - *start < mapping.size);
        let (start, mapping) = found.ok_or(CudaError::InvalidValue)?;
        Ok((*start, mapping))
    }

    /// The first addresses of the mappings that a range consists of.
    fn whole_mappings(&self, address: u64, bytes: u64) -> Result<Vec<u64>, CudaError> {
        let end = address.checked_add(bytes).ok_or(CudaError::InvalidValue)?;
        let (mut found, mut reached) = (Vec::new(), address);
        for (&start, mapping) in self.virtual_memory.mappings.range(address..end) {
            if start != reached {
                break;
            }
            reached = start + mapping.size;
            found.push(start);
        }
        if found.is_empty() || reached != end {
            return Err(CudaError::InvalidValue);
        }
        Ok(found)
    }

    /// Ends a memory that is mapped nowhere and that nobody holds.
    fn drop_unused(&mut self, handle: u64) {
        let memories = &mut self.virtual_memory.memories;
        let memory = memories.get(&handle);
        if let Some(memory) = memory
            && memory.holders == 0
            && !memory.is_mapped
        {
            let (device, bytes) = (memory.device, memory.size);
            memories.remove(&handle);
            self.global.seen_by(device, 0).give_back(bytes);
        }
    }
}

/// Whether it is a length that memory may have.
fn is_whole(bytes: u64) -> bool {
    bytes != 0 && bytes.is_multiple_of(GRANULARITY)
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::super::{DeviceSpec, Memset, MemsetValue, StreamId};
    use super::*;

    const SIZE: u64 = GRANULARITY;
    const INVALID: Result<(), CudaError> = Err(CudaError::InvalidValue);

    #[test]
    fn memory_is_mapped_opened_and_moved_with_what_is_in_it() {
        let (mut driver, context) = driver();
        let free = driver.memory_info(context).unwrap().0;
        let range = driver.reserve_addresses(3 * SIZE, 0).unwrap();
        let [one, two] = [0; 2].map(|_| driver.create_memory(0, SIZE).unwrap());
        assert_eq!(driver.memory_info(context).unwrap().0, free - 2 * SIZE);
        driver.map_memory(range, SIZE, one).unwrap();
        driver.map_memory(range + SIZE, SIZE, two).unwrap();
        assert!(driver.allocation(range).is_err(), "nobody may reach it yet");
        assert_eq!(driver.access(range, 0), Ok(false));
        driver.set_access(range, 2 * SIZE, 0, true).unwrap();
        assert_eq!(driver.access(range + SIZE, 0), Ok(true));
        // A fill goes from one into the other.
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
        driver.map_memory(range + 2 * SIZE, SIZE, one).unwrap();
        driver.set_access(range + 2 * SIZE, SIZE, 0, true).unwrap();
        let host = driver.global.host(range + 3 * SIZE - 4, 4).unwrap();
        // SAFETY: four bytes of an allocation.
        assert_eq!(unsafe { host.cast::<[u8; 4]>().read() }, [7; 4]);
        driver.set_access(range + SIZE, SIZE, 0, false).unwrap();
        assert!(driver.allocation(range + SIZE).is_err());

        // Held by nobody, it goes when it is unmapped.
        driver.release_memory(one).unwrap();
        assert_eq!(driver.release_memory(one), INVALID);
        assert_eq!(driver.memory_info(context).unwrap().0, free - 2 * SIZE);
        assert_eq!(driver.free_addresses(range, 3 * SIZE), INVALID);
        driver.unmap_memory(range + SIZE, 2 * SIZE).unwrap();
        assert_eq!(driver.memory_info(context).unwrap().0, free - SIZE);
        driver.release_memory(two).unwrap();
        assert_eq!(driver.memory_info(context).unwrap().0, free);
        driver.free_addresses(range, 3 * SIZE).unwrap();
        assert_eq!(driver.free_addresses(range, 3 * SIZE), INVALID);
    }

    #[test]
    fn more_addresses_are_reserved_than_the_host_has_memory() {
        let (mut driver, _) = driver();
        let most = 1 << 40;
        let range = driver.reserve_addresses(most, 0).unwrap();
        let other = driver.reserve_addresses(most, 0).unwrap();
        let memory = driver.create_memory(0, SIZE).unwrap();
        // At the far end, and at the other's.
        for last in [range + most - SIZE, other + most - SIZE] {
            driver.map_memory(last, SIZE, memory).unwrap();
            driver.set_access(last, SIZE, 0, true).unwrap();
            let host = driver.global.host(last, SIZE).unwrap();
            // SAFETY: so many bytes of an allocation.
            unsafe {
                let kept = host.cast::<u32>();
                assert_eq!(kept.read(), if last > other { 7 } else { 0 });
                kept.write(7);
            }
            driver.unmap_memory(last, SIZE).unwrap();
        }
        // What nobody has kept is zero again.
        let fresh = driver.create_memory(0, SIZE).unwrap();
        driver.map_memory(range + most - SIZE, SIZE, fresh).unwrap();
        let host = driver.global.window(range + most - SIZE, SIZE).unwrap();
        // SAFETY: memory is mapped there.
        assert_eq!(unsafe { host.read() }, 0);
        driver.unmap_memory(range + most - SIZE, SIZE).unwrap();
        driver.free_addresses(range, most).unwrap();
        driver.free_addresses(other, most).unwrap();
    }

    #[test]
    fn a_device_that_is_no_peer_gets_no_access() {
        for (name, other) in [("gtx280", Err(CudaError::InvalidDevice)), ("h200", Ok(()))] {
            let device = DeviceSpec::named(name).unwrap();
            let mut driver = Driver::with_devices(2, device.clone(), None);
            let range = driver.reserve_addresses(SIZE, 0).unwrap();
            let memory = driver.create_memory(1, SIZE).unwrap();
            driver.map_memory(range, SIZE, memory).unwrap();
            assert_eq!(driver.set_access(range, SIZE, 1, true), Ok(()));
            assert_eq!(driver.set_access(range, SIZE, 0, true), other);
            assert_eq!(driver.access(range, 0), Ok(other.is_ok()));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (mut driver, _) = driver();
        for (bytes, alignment) in [(0, 0), (SIZE + 1, 0), (SIZE, 3)] {
            let refused = driver.reserve_addresses(bytes, alignment);
            assert_eq!(refused, Err(CudaError::InvalidValue));
        }
        assert_eq!(driver.create_memory(0, 100), Err(CudaError::InvalidValue));
        let more = 1 << 50;
        assert_eq!(driver.create_memory(0, more), Err(CudaError::OutOfMemory));
        let range = driver.reserve_addresses(2 * SIZE, 0).unwrap();
        let memory = driver.create_memory(0, SIZE).unwrap();
        assert_eq!(driver.map_memory(range, 2 * SIZE, memory), INVALID);
        assert_eq!(driver.map_memory(range + 512, SIZE, memory), INVALID);
        assert_eq!(driver.map_memory(range + 2 * SIZE, SIZE, memory), INVALID);
        assert_eq!(driver.map_memory(range, SIZE, 7), INVALID);
        driver.map_memory(range, SIZE, memory).unwrap();
        let twice = driver.map_memory(range + SIZE, SIZE, memory);
        assert_eq!(twice, Err(CudaError::NotSupported));
        let other = driver.create_memory(0, SIZE).unwrap();
        assert_eq!(driver.map_memory(range, SIZE, other), INVALID);
        assert_eq!(driver.set_access(range, 2 * SIZE, 0, true), INVALID);
        assert_eq!(driver.unmap_memory(range, SIZE / 2), INVALID);
        assert_eq!(driver.access(range + SIZE, 0), Err(CudaError::InvalidValue));
        assert_eq!(driver.hold_memory(range + 5), Ok(memory));
        driver.release_memory(memory).unwrap();
        assert_eq!(driver.memory_size(memory), Ok(SIZE));
        driver.release_memory(memory).unwrap();
        assert_eq!(driver.memory_size(memory), Err(CudaError::InvalidValue));
    }
}
