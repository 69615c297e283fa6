//! Tests of copies between all kinds of memory, of all shapes, and of invalid copies; and tests of fills.

use super::*;
use crate::driver::tests::driver;
use CudaError::*;
use MemcpyAddress::*;

fn host(bytes: &mut [u8]) -> MemcpyAddress {
    Host(bytes.as_mut_ptr())
}

fn linear(
    driver: &mut Driver,
    to: MemcpyAddress,
    from: MemcpyAddress,
    bytes: u64,
) -> Result<(), CudaError> {
    let context = driver.retain_primary(0).unwrap();
    // SAFETY: each test passes host arrays that are at least as long as the copy.
    unsafe { driver.memcpy(context, &Memcpy::linear(to, from, bytes)) }
}

#[test]
fn copies_round_trip_through_the_device() {
    let (mut driver, context) = driver();
    let mut source: Vec<u8> = (0..100).collect();
    let mut result = vec![0; 100];
    let first = driver.allocate(context, 100).unwrap();
    let second = driver.allocate(context, 100).unwrap();
    linear(&mut driver, Device(first), host(&mut source), 100).unwrap();
    linear(&mut driver, Device(second + 10), Device(first), 90).unwrap();
    linear(&mut driver, host(&mut result), Unified(second), 100).unwrap();
    assert_eq!(result[..10], [0; 10]);
    assert_eq!(result[10..], source[..90]);
}

#[test]
fn ranges_outside_an_allocation_are_rejected() {
    let (mut driver, context) = driver();
    let mut bytes = vec![0; 128];
    let address = driver.allocate(context, 100).unwrap();
    let rejected = Err(InvalidValue);
    for invalid in [address + 1, address - 1, address + 100, 0, 4096, u64::MAX] {
        let to = Device(invalid);
        assert_eq!(linear(&mut driver, to, host(&mut bytes), 100), rejected);
        assert_eq!(linear(&mut driver, host(&mut bytes), to, 100), rejected);
    }
    let null = Host(std::ptr::null_mut());
    assert_eq!(linear(&mut driver, Device(address), null, 4), rejected);
    let past_end = linear(&mut driver, host(&mut bytes), Unified(address + 100), 4);
    assert_eq!(past_end, rejected);
    driver.free(context, address).unwrap();
    let freed = linear(&mut driver, Device(address), host(&mut bytes), 4);
    assert_eq!(freed, rejected);
}

#[test]
fn an_empty_copy_ignores_its_addresses() {
    let (mut driver, _) = driver();
    let null = Device(0);
    assert_eq!(linear(&mut driver, null, null, 0), Ok(()));
}

#[test]
fn mapped_host_memory_is_copied_by_device_address() {
    let (mut driver, context) = driver();
    let pinned = driver.allocate_host(context, 16).unwrap();
    let managed = driver.allocate_managed(context, 16).unwrap();
    let mut source = [5u8; 16];
    linear(&mut driver, Device(pinned), host(&mut source), 16).unwrap();
    linear(&mut driver, Unified(managed), Unified(pinned), 16).unwrap();
    // SAFETY: managed memory is host memory, and the allocation has 16 bytes.
    let output = unsafe { std::slice::from_raw_parts(managed as *const u8, 16) };
    assert_eq!(output, source);
    let past_end = linear(&mut driver, Unified(pinned + 8), host(&mut source), 16);
    assert_eq!(past_end, Err(InvalidValue));
}

/// Copies a 3 × 2 × 2 box from the middle of one array to the middle of another, and compares with a copy by
/// hand.
#[test]
fn a_box_is_copied_to_the_right_position() {
    let (mut driver, context) = driver();
    let mut source: Vec<u8> = (0..8 * 5 * 4).map(|i| i as u8).collect();
    let mut result = vec![0xee; 10 * 6 * 3];
    let device = driver.allocate(context, 512 * 5 * 4).unwrap();
    let whole = Memcpy {
        dst: MemcpyOperand {
            pitch: 512,
            height: 5,
            ..MemcpyOperand::linear(Device(device))
        },
        src: MemcpyOperand::linear(host(&mut source)),
        width: 8,
        height: 5,
        depth: 4,
    };
    // SAFETY: `source` has 8 × 5 × 4 bytes.
    unsafe { driver.memcpy(context, &whole) }.unwrap();
    let part = Memcpy {
        dst: MemcpyOperand {
            array: host(&mut result),
            x: 4,
            y: 3,
            z: 1,
            pitch: 10,
            height: 6,
        },
        src: MemcpyOperand {
            x: 2,
            y: 1,
            z: 2,
            ..whole.dst
        },
        width: 3,
        height: 2,
        depth: 2,
    };
    // SAFETY: `result` has 10 × 6 × 3 bytes, which include slices 1 and 2 with rows 3 and 4.
    unsafe { driver.memcpy(context, &part) }.unwrap();

    let mut expected = vec![0xee; 10 * 6 * 3];
    for (z, y, x) in (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| (z, y, x)))) {
        expected[((z + 1) * 6 + y + 3) * 10 + x + 4] = source[((z + 2) * 5 + y + 1) * 8 + x + 2];
    }
    assert_eq!(result, expected);
}

#[test]
fn invalid_pitches_and_bounds_are_rejected() {
    let (mut driver, context) = driver();
    let mut bytes = vec![0; 4096];
    let (address, pitch) = driver.allocate_pitched(context, 100, 4, 4).unwrap();
    let valid = Memcpy {
        dst: MemcpyOperand {
            pitch,
            ..MemcpyOperand::linear(Device(address))
        },
        src: MemcpyOperand::linear(host(&mut bytes)),
        width: 100,
        height: 4,
        depth: 1,
    };
    let mut copies = [valid; 7];
    copies[0].dst.pitch = 99;
    copies[1].height = 5;
    copies[2].dst.y = 1;
    copies[3].dst.x = pitch - 99;
    copies[4].dst.z = 1;
    copies[5].width = u64::MAX;
    copies[6].dst.pitch = MAX_PITCH + 1;
    // SAFETY: `bytes` is longer than the valid copy; the other copies are rejected before they access memory.
    unsafe {
        assert_eq!(driver.memcpy(context, &valid), Ok(()));
        for copy in &copies {
            assert_eq!(driver.memcpy(context, copy), Err(InvalidValue));
        }
    }
}

/// A buffer in one kind of memory, with all ways to address it in a copy.
struct Buffer {
    kind: &'static str,
    host: *mut u8,
    addresses: Vec<MemcpyAddress>,
}

/// Allocates `bytes` bytes in each kind of memory. Host memory is leaked, because it must outlive the driver.
fn buffers(driver: &mut Driver, context: ContextId, bytes: usize) -> [Buffer; 5] {
    let leak = || vec![0; bytes].leak().as_mut_ptr();
    let (pageable, registered) = (leak(), leak());
    let length = bytes as u64;
    // SAFETY: the registered memory is leaked, so it stays valid.
    unsafe { driver.register_host(context, registered, length) }.unwrap();
    let device = driver.allocate(context, length).unwrap();
    let managed = driver.allocate_managed(context, length).unwrap();
    let locked = driver.allocate_host(context, length).unwrap();
    let everywhere = |kind, address: u64| Buffer {
        kind,
        host: address as *mut u8,
        addresses: vec![Host(address as *mut u8), Device(address), Unified(address)],
    };
    [
        Buffer {
            kind: "device",
            host: driver.global.host(device, length).unwrap(),
            addresses: vec![Device(device), Unified(device)],
        },
        everywhere("managed", managed),
        everywhere("page-locked", locked),
        everywhere("registered", registered as u64),
        Buffer {
            kind: "pageable",
            host: pageable,
            addresses: vec![Host(pageable), Unified(pageable as u64)],
        },
    ]
}

/// Returns all pairs of an element of `a` and an element of `b`.
fn pairs<'a, T, U>(a: &'a [T], b: &'a [U]) -> impl Iterator<Item = (&'a T, &'a U)> {
    a.iter()
        .flat_map(|first| b.iter().map(move |second| (first, second)))
}

/// Copies boxes between all kinds of memory in all ways to address them, with different pitches and offsets
/// of the two operands, and compares every byte of the destination.
#[test]
fn all_pairs_of_memory_kinds_can_be_copied() {
    const BYTES: usize = 4 * 6 * 40;
    let (mut driver, context) = driver();
    let sources = buffers(&mut driver, context, BYTES);
    let results = buffers(&mut driver, context, BYTES);
    let operand = |array, [x, y, z, pitch, height]: [u64; 5]| MemcpyOperand {
        array,
        x,
        y,
        z,
        pitch,
        height,
    };
    // The source position, the destination position, and the size: bytes, rows, slices.
    let boxes = [
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [BYTES as u64, 1, 1]),
        ([3, 1, 0, 40, 0], [1, 2, 0, 23, 0], [20, 5, 1]),
        ([0, 0, 0, 24, 0], [0, 0, 0, 24, 0], [24, 6, 1]),
        ([2, 1, 1, 40, 6], [5, 0, 1, 29, 4], [17, 3, 2]),
        ([0, 0, 0, 16, 5], [0, 0, 0, 16, 5], [16, 5, 3]),
    ];
    for (source, result) in pairs(&sources, &results) {
        let data: [u8; BYTES] = std::array::from_fn(|i| (i % 251) as u8);
        // SAFETY: `source.host` has `BYTES` bytes.
        unsafe { data.as_ptr().copy_to(source.host, BYTES) };
        for (from, to) in pairs(&source.addresses, &result.addresses) {
            for (from_at, to_at, [width, height, depth]) in boxes {
                // SAFETY: `result.host` has `BYTES` bytes.
                unsafe { result.host.write_bytes(0xee, BYTES) };
                let copy = Memcpy {
                    dst: operand(*to, to_at),
                    src: operand(*from, from_at),
                    width,
                    height,
                    depth,
                };
                // SAFETY: all boxes are within `BYTES` bytes.
                unsafe { driver.memcpy(context, &copy) }.unwrap();
                let mut expected = [0xee; BYTES];
                for i in 0..width * height * depth {
                    let (x, y, z) = (i % width, i / width % height, i / width / height);
                    let index = |[x0, y0, z0, pitch, rows]: [u64; 5]| {
                        (((z + z0) * rows + y + y0) * pitch + x + x0) as usize
                    };
                    expected[index(to_at)] = data[index(from_at)];
                }
                // SAFETY: `result.host` has `BYTES` bytes, and nothing writes to them while the slice lives.
                let actual = unsafe { std::slice::from_raw_parts(result.host, BYTES) };
                assert_eq!(
                    *actual, expected,
                    "{} as {from:?} to {} as {to:?}, {copy:?}",
                    source.kind, result.kind
                );
            }
        }
    }
}

#[test]
fn modelled_time_depends_on_the_kinds_of_memory() {
    const BYTES: u64 = 6_000_000;
    let (mut driver, context) = driver();
    let start = driver.create_event(context, 0).unwrap();
    let end = driver.create_event(context, 0).unwrap();
    let sources = buffers(&mut driver, context, BYTES as usize);
    let results = buffers(&mut driver, context, BYTES as usize);
    let device = driver.device().clone();
    let link = [device.page_locked_copy, device.pageable_copy];
    let (within, host) = (device.device_copy, device.host_copy);
    // One row per source and one column per destination: device, managed, page-locked, registered, pageable.
    let rates = [
        [within, within, link[0], link[0], link[1]],
        [within, within, link[0], link[0], link[1]],
        [link[0], link[0], host, host, host],
        [link[0], link[0], host, host, host],
        [link[1], link[1], host, host, host],
    ];
    for (source, row) in sources.iter().zip(rates) {
        for (result, rate) in results.iter().zip(row) {
            for (from, to) in source.addresses.iter().zip(&result.addresses) {
                driver
                    .record_event(context, start, StreamId::LEGACY)
                    .unwrap();
                linear(&mut driver, *to, *from, BYTES).unwrap();
                driver.record_event(context, end, StreamId::LEGACY).unwrap();
                let expected = rate.seconds(BYTES) * 1e3;
                driver.synchronize_event(end).unwrap();
                let elapsed = f64::from(driver.elapsed_time(start, end).unwrap());
                assert!(
                    (elapsed / expected - 1.0).abs() < 1e-6,
                    "{} as {from:?} to {} as {to:?}: {elapsed} ms",
                    source.kind,
                    result.kind
                );
            }
        }
    }
    assert!(link[0].bandwidth > link[1].bandwidth);
}

/// The host waits for a copy if the driver itself has to access the memory; otherwise the copy overlaps with
/// the host.
#[test]
fn asynchronous_copies_of_pageable_memory_block_the_host() {
    const BYTES: u64 = 1 << 20;
    let (mut driver, context) = driver();
    let sources = buffers(&mut driver, context, BYTES as usize);
    let results = buffers(&mut driver, context, BYTES as usize);
    for (source, result) in pairs(&sources, &results) {
        let streams = [(); 2].map(|()| driver.create_stream(context, 1, 0).unwrap());
        let events = [(); 2].map(|()| driver.create_event(context, 0).unwrap());
        let copy = Memcpy::linear(result.addresses[0], source.addresses[0], BYTES);
        driver.record_event(context, events[0], streams[1]).unwrap();
        // SAFETY: both buffers are as long as the copy.
        unsafe { driver.memcpy_async(context, streams[0], &copy) }.unwrap();
        driver.record_event(context, events[1], streams[1]).unwrap();
        driver.synchronize_event(events[1]).unwrap();
        let waited = driver.elapsed_time(events[0], events[1]).unwrap() > 0.0;
        let kinds = [source.kind, result.kind];
        let host_to_host = kinds
            .iter()
            .all(|kind| !matches!(*kind, "device" | "managed"));
        let expected = host_to_host || kinds.contains(&"pageable");
        assert_eq!(waited, expected, "{kinds:?}");
        driver.synchronize_context(context).unwrap();
    }
}

#[test]
fn an_unknown_stream_is_rejected_before_copying() {
    let (mut driver, context) = driver();
    let mut bytes = [1u8; 4];
    let address = driver.allocate(context, 4).unwrap();
    let copy = Memcpy::linear(Device(address), host(&mut bytes), 4);
    // SAFETY: `bytes` has 4 bytes.
    let rejected = unsafe { driver.memcpy_async(context, StreamId(77), &copy) };
    assert_eq!(rejected, Err(InvalidHandle));
    linear(&mut driver, host(&mut bytes), Device(address), 4).unwrap();
    assert_eq!(bytes, [0; 4]);
}

fn read_device(driver: &mut Driver, context: ContextId, address: u64, bytes: usize) -> Vec<u8> {
    let mut output = vec![0; bytes];
    let to = MemcpyAddress::Host(output.as_mut_ptr());
    let copy = Memcpy::linear(to, MemcpyAddress::Device(address), bytes as u64);
    // SAFETY: `output` has `bytes` bytes.
    unsafe { driver.memcpy(context, &copy) }.unwrap();
    output
}

#[test]
fn all_value_widths_are_filled() {
    let (mut driver, context) = driver();
    let address = driver.allocate(context, 16).unwrap();
    let cases = [
        (MemsetValue::U8(1), 4, vec![1, 1, 1, 1, 0, 0, 0, 0]),
        (MemsetValue::U16(0x0302), 3, vec![2, 3, 2, 3, 2, 3, 0, 0]),
        (MemsetValue::U32(0x0706_0504), 2, [4, 5, 6, 7].repeat(2)),
    ];
    for (value, width, expected) in cases {
        let (pitch, height) = (0, 1);
        let memset = Memset {
            address,
            pitch,
            value,
            width,
            height,
        };
        driver.memset(context, StreamId::LEGACY, &memset).unwrap();
        assert_eq!(read_device(&mut driver, context, address, 8), expected);
    }
}

#[test]
fn row_padding_is_unchanged() {
    let (mut driver, context) = driver();
    let (address, pitch) = driver.allocate_pitched(context, 6, 3, 4).unwrap();
    let memset = Memset {
        address,
        pitch,
        value: MemsetValue::U16(0x0505),
        width: 3,
        height: 3,
    };
    driver.memset(context, StreamId::LEGACY, &memset).unwrap();
    let bytes = read_device(&mut driver, context, address, 3 * pitch as usize);
    for row in bytes.chunks(pitch as usize) {
        assert_eq!(row[..6], [5; 6]);
        assert!(row[6..].iter().all(|&byte| byte == 0));
    }
}

#[test]
fn invalid_ranges_and_alignments_are_rejected() {
    let (mut driver, context) = driver();
    let (address, pitch) = driver.allocate_pitched(context, 512, 4, 4).unwrap();
    let valid = Memset {
        address,
        pitch,
        value: MemsetValue::U32(1),
        width: 128,
        height: 4,
    };
    assert_eq!(driver.memset(context, StreamId::LEGACY, &valid), Ok(()));
    let mut invalid = [valid; 8];
    invalid[0].address = address + 2;
    invalid[0].width = 1;
    invalid[1].address = address + 4;
    invalid[2].address = 0;
    invalid[3].height = 5;
    invalid[4].pitch = 508;
    invalid[5].pitch = 514;
    invalid[6].width = u64::MAX;
    invalid[7].height = u64::MAX;
    for memset in invalid {
        assert_eq!(
            driver.memset(context, StreamId::LEGACY, &memset),
            Err(CudaError::InvalidValue),
            "{memset:?}"
        );
    }
    assert_eq!(
        driver.memset(context, StreamId(99), &valid),
        Err(CudaError::InvalidHandle)
    );
    let empty = Memset {
        address: 0,
        width: 0,
        ..valid
    };
    assert_eq!(driver.memset(context, StreamId::LEGACY, &empty), Ok(()));
}
