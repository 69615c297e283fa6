//! Tests of allocation addresses, refused requests, and freeing of each kind of memory.

use super::*;

#[test]
fn allocations_are_aligned_zeroed_and_disjoint() {
    let mut global = Global::new(1 << 20);
    let first = global.allocate(100).unwrap();
    let second = global.allocate(513).unwrap();
    assert_eq!(first, BASE);
    assert_eq!(second % ALIGNMENT, 0);
    assert!(second > first + 100);
    let host = global.host(second, 513).unwrap();
    assert_eq!(host as u64 % ALIGNMENT, 0);
    for i in 0..513 {
        // SAFETY: `i` is less than 513, and `host` points to the 513 bytes of the second allocation.
        assert_eq!(unsafe { *host.add(i) }, 0);
    }
}

#[test]
fn large_allocations_are_aligned() {
    const MEGABYTE: u64 = 1 << 20;
    let mut global = Global::new(64 * MEGABYTE);
    for (bytes, alignment) in [
        (MEGABYTE, MEGABYTE),
        (MEGABYTE + 1, 2 * MEGABYTE),
        (2 * MEGABYTE, 2 * MEGABYTE),
        (3 * MEGABYTE, 2 * MEGABYTE),
        (MEGABYTE - 1, ALIGNMENT),
    ] {
        global.allocate(100).unwrap();
        let address = global.allocate(bytes).unwrap();
        assert_eq!(address % alignment, 0, "{bytes} bytes at {address:#x}");
    }
}

#[test]
fn only_ranges_inside_one_allocation_have_a_host_pointer() {
    let mut global = Global::new(1 << 20);
    let address = global.allocate(64).unwrap();
    let host = global.host(address, 64).unwrap();
    assert_eq!(global.host(address + 60, 4), Some(host.wrapping_add(60)));
    assert_eq!(global.host(address + 60, 5), None);
    assert_eq!(global.host(address + 64, 0), None);
    assert_eq!(global.host(address - 1, 1), None);
    assert_eq!(global.host(address, u64::MAX), None);
    assert_eq!(global.host(0, 1), None);
    assert_eq!(global.allocation(address + 63).unwrap().base, address);
}

#[test]
fn freed_addresses_are_never_reused() {
    let mut global = Global::new(1 << 20);
    let address = global.allocate(64).unwrap();
    assert_eq!(global.free(address + 1), Err(NotAllocated(address + 1)));
    global.free(address).unwrap();
    assert_eq!(global.free(address), Err(NotAllocated(address)));
    assert_eq!(global.host(address, 1), None);
    assert_ne!(global.allocate(64).unwrap(), address);
}

#[test]
fn capacity_and_impossible_sizes_are_refused() {
    let mut global = Global::new(1000);
    let address = global.allocate(600).unwrap();
    assert_eq!(
        global.allocate(401),
        Err(OutOfMemory {
            requested: 401,
            free: 400
        })
    );
    global.free(address).unwrap();
    assert!(global.allocate(1000).is_ok());
    let mut endless = Global::new(u64::MAX);
    for bytes in [u64::MAX, 1 << 56, 1 << 55] {
        assert!(endless.allocate(bytes).is_err());
        assert!(endless.allocate_managed(bytes).is_err());
    }
    assert_eq!(endless.free_bytes(), u64::MAX);
}

#[test]
fn each_kind_is_freed_by_its_own_function() {
    let mut global = Global::new(1 << 20);
    let managed = global.allocate_managed(8).unwrap();
    let pinned = global.allocate_host(8).unwrap();
    assert_eq!(global.allocation(managed).unwrap().host as u64, managed);
    assert!(managed < BASE && pinned < BASE);
    assert_eq!(global.free_host(managed), Err(NotAllocated(managed)));
    assert_eq!(global.free(pinned), Err(NotAllocated(pinned)));
    assert_eq!(global.unmap(pinned), Err(NotAllocated(pinned)));
    global.free(managed).unwrap();
    global.free_host(pinned).unwrap();
    assert_eq!(global.free_bytes(), 1 << 20);
}

#[test]
fn host_memory_cannot_be_mapped_twice() {
    let mut global = Global::new(0);
    let mut bytes = [7u8; 32];
    let host = bytes.as_mut_ptr();
    // SAFETY: `bytes` outlives the mapping.
    unsafe { global.map(host, 32) }.unwrap();
    for offset in [0, 8, 31] {
        let inside = host.wrapping_add(offset);
        // SAFETY: `map` must refuse the range; if it does not, the range is still inside `bytes`.
        let again = unsafe { global.map(inside, 1) };
        assert_eq!(again, Err(AlreadyMapped(inside as u64)));
    }
    assert_eq!(global.host(host as u64 + 8, 8), Some(host.wrapping_add(8)));
    global.unmap(host as u64).unwrap();
    assert_eq!(global.host(host as u64, 1), None);
}

#[test]
fn allocations_are_listed_by_address() {
    let mut global = Global::new(1 << 20);
    let device = global.allocate(8).unwrap();
    let managed = global.allocate_managed(8).unwrap();
    let listed: Vec<u64> = global
        .allocations()
        .map(|allocation| allocation.base)
        .collect();
    assert_eq!(listed, [managed, device]);
}
