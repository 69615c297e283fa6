//! Tests of valid and invalid allocations of all kinds.

use super::*;
use crate::driver::tests::driver;
use CudaError::*;

#[test]
fn zero_bytes_are_rejected() {
    let (mut driver, context) = driver();
    let rejected = Err(InvalidValue);
    assert_eq!(driver.allocate(context, 0), rejected);
    assert_eq!(driver.allocate_managed(context, 0), rejected);
    assert_eq!(driver.allocate_host(context, 0), rejected);
    for (width, height) in [(0, 4), (4, 0)] {
        assert_eq!(
            driver.allocate_pitched(context, width, height, 4),
            Err(InvalidValue)
        );
    }
}

#[test]
fn a_pitch_is_the_width_rounded_up_to_512() {
    let (mut driver, context) = driver();
    for (width, pitch) in [
        (1, 512),
        (60, 512),
        (512, 512),
        (513, 1024),
        (1020, 1024),
        (4096, 4096),
    ] {
        let (address, actual) = driver.allocate_pitched(context, width, 3, 4).unwrap();
        assert_eq!(actual, pitch);
        assert_eq!(driver.allocation(address).unwrap().size, 3 * pitch);
    }
    for element in [0, 1, 2, 3, 12, 32] {
        assert_eq!(
            driver.allocate_pitched(context, 4, 4, element),
            Err(InvalidValue)
        );
    }
    for (width, height, error) in [
        (u64::MAX, 1, InvalidValue),
        (4, 1 << 55, InvalidValue),
        (4, 1 << 54, OutOfMemory),
        (1 << 62, 1, OutOfMemory),
        (0, 1, InvalidValue),
        (1, 0, InvalidValue),
    ] {
        let actual = driver.allocate_pitched(context, width, height, 4);
        assert_eq!(actual, Err(error), "{width} x {height}");
    }
}

#[test]
fn exceeding_the_capacity_is_out_of_memory() {
    let (mut driver, context) = driver();
    let (free, total) = driver.memory_info(context).unwrap();
    assert_eq!(free, total);
    assert_eq!(total, driver.total_memory());
    assert_eq!(driver.allocate(context, total + 1), Err(OutOfMemory));
    assert_eq!(driver.allocate(context, u64::MAX), Err(OutOfMemory));
    assert_eq!(driver.memory_info(context), Ok((total, total)));
}

#[test]
fn invalid_frees_are_rejected() {
    let (mut driver, context) = driver();
    let address = driver.allocate(context, 64).unwrap();
    let pinned = driver.allocate_host(context, 64).unwrap();
    let rejected = Err(InvalidValue);
    assert_eq!(driver.free(context, address + 4), rejected);
    assert_eq!(driver.free(context, pinned), rejected);
    assert_eq!(driver.free_host(context, address), rejected);
    assert_eq!(driver.free(context, 0), Ok(()));
    driver.free(context, address).unwrap();
    assert_eq!(driver.free(context, address), rejected);
    driver.free_host(context, pinned).unwrap();
    assert_eq!(driver.free_host(context, pinned), rejected);
}

#[test]
fn host_memory_is_registered_once() {
    let (mut driver, context) = driver();
    let mut bytes = [0u8; 64];
    let host = bytes.as_mut_ptr();
    // SAFETY: `bytes` outlives the registration.
    let first = unsafe { driver.register_host(context, host, 64) };
    assert_eq!(first, Ok(()));
    // SAFETY: the call is rejected before it accesses the memory.
    let again = unsafe { driver.register_host(context, host, 64) };
    assert_eq!(again, Err(HostMemoryAlreadyRegistered));
    // SAFETY: the call is rejected before it accesses the memory.
    let null = unsafe { driver.register_host(context, std::ptr::null_mut(), 64) };
    assert_eq!(null, Err(InvalidValue));
    driver.unregister_host(context, host as u64).unwrap();
    assert_eq!(
        driver.unregister_host(context, host as u64),
        Err(HostMemoryNotRegistered)
    );
}

#[test]
fn advise_needs_managed_memory() {
    let (mut driver, context) = driver();
    let managed = driver.allocate_managed(context, 64).unwrap();
    let device = driver.allocate(context, 64).unwrap();
    let rejected = Err(InvalidValue);
    assert_eq!(driver.advise(context, managed, 64), Ok(()));
    assert_eq!(driver.advise(context, managed, 65), rejected);
    assert_eq!(driver.advise(context, managed, 0), rejected);
    assert_eq!(driver.advise(context, device, 64), rejected);
}

#[test]
fn reserved_addresses_become_valid_when_allocated() {
    let (mut driver, context) = driver();
    let address = driver.reserve(context, 100).unwrap();
    assert_eq!(driver.allocation(address), Err(InvalidValue));
    driver.allocate_reserved(context, address, 100).unwrap();
    assert_eq!(driver.owner(address), Some(context));
    let again = driver.allocate_reserved(context, address, 100);
    assert_eq!(again, Err(InvalidValue));
    driver.free(context, address).unwrap();
    driver.allocate_reserved(context, address, 100).unwrap();
    let next = driver.allocate(context, 100).unwrap();
    assert!(next > address + 100);
    assert_eq!(driver.reserve(context, 0), Err(InvalidValue));
    let total = driver.total_memory();
    assert_eq!(driver.reserve(context, total + 1), Err(OutOfMemory));
}
