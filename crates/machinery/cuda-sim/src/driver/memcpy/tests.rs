//! Copies between all kinds of memory, of all shapes, and those that are refused.

use super::*;
use crate::driver::memory::MAX_PITCH;
use crate::driver::tests::driver;

fn host(bytes: &mut [u8]) -> MemcpyAddress {
    MemcpyAddress::Host(bytes.as_mut_ptr())
}

fn linear(
    driver: &mut Driver,
    to: MemcpyAddress,
    from: MemcpyAddress,
    bytes: u64,
) -> Result<(), CudaError> {
    let context = driver.retain_primary(0).unwrap();
    // SAFETY: the tests' host arrays are as long as the copies between them.
    unsafe { driver.memcpy(context, &Memcpy::linear(to, from, bytes)) }
}

#[test]
fn bytes_go_there_and_back() {
    let (mut driver, context) = driver();
    let mut source: Vec<u8> = (0..100).collect();
    let mut result = vec![0; 100];
    let first = driver.allocate(context, 100).unwrap();
    let second = driver.allocate(context, 100).unwrap();
    linear(
        &mut driver,
        MemcpyAddress::Device(first),
        host(&mut source),
        100,
    )
    .unwrap();
    linear(
        &mut driver,
        MemcpyAddress::Device(second + 10),
        MemcpyAddress::Device(first),
        90,
    )
    .unwrap();
    linear(
        &mut driver,
        host(&mut result),
        MemcpyAddress::Unified(second),
        100,
    )
    .unwrap();
    assert_eq!(result[..10], [0; 10]);
    assert_eq!(result[10..], source[..90]);
}

#[test]
fn what_is_outside_an_allocation_is_refused() {
    let (mut driver, context) = driver();
    let mut bytes = vec![0; 128];
    let address = driver.allocate(context, 100).unwrap();
    let refused = Err(CudaError::InvalidValue);
    for bad in [address + 1, address - 1, address + 100, 0, 4096, u64::MAX] {
        let to = MemcpyAddress::Device(bad);
        assert_eq!(linear(&mut driver, to, host(&mut bytes), 100), refused);
        assert_eq!(linear(&mut driver, host(&mut bytes), to, 100), refused);
    }
    let null = MemcpyAddress::Host(std::ptr::null_mut());
    assert_eq!(
        linear(&mut driver, MemcpyAddress::Device(address), null, 4),
        refused
    );
    let device_as_host = MemcpyAddress::Host(address as *mut u8);
    assert_eq!(
        linear(
            &mut driver,
            MemcpyAddress::Device(address),
            device_as_host,
            4
        ),
        refused
    );
    assert_eq!(
        linear(
            &mut driver,
            host(&mut bytes),
            MemcpyAddress::Unified(address + 100),
            4
        ),
        refused
    );
    driver.free(context, address).unwrap();
    assert_eq!(
        linear(
            &mut driver,
            MemcpyAddress::Device(address),
            host(&mut bytes),
            4
        ),
        refused
    );
}

#[test]
fn an_empty_copy_looks_at_nothing() {
    let (mut driver, _) = driver();
    let nowhere = MemcpyAddress::Device(0);
    assert_eq!(linear(&mut driver, nowhere, nowhere, 0), Ok(()));
}

#[test]
fn mapped_host_memory_is_copied_by_its_address() {
    let (mut driver, context) = driver();
    let pinned = driver.allocate_host(context, 16).unwrap();
    let managed = driver.allocate_managed(context, 16).unwrap();
    let mut source = [5u8; 16];
    linear(
        &mut driver,
        MemcpyAddress::Device(pinned),
        host(&mut source),
        16,
    )
    .unwrap();
    linear(
        &mut driver,
        MemcpyAddress::Unified(managed),
        MemcpyAddress::Unified(pinned),
        16,
    )
    .unwrap();
    // SAFETY: managed memory is host memory, 16 bytes of it.
    let found = unsafe { std::slice::from_raw_parts(managed as *const u8, 16) };
    assert_eq!(found, source);
    assert_eq!(
        linear(
            &mut driver,
            MemcpyAddress::Unified(pinned + 8),
            host(&mut source),
            16
        ),
        Err(CudaError::InvalidValue)
    );
}

/// Copies a 3 × 2 × 2 box out of the middle of one array into the middle of another and
/// compares with the same done by hand.
#[test]
fn a_box_lands_where_it_should() {
    let (mut driver, context) = driver();
    let mut source: Vec<u8> = (0..8 * 5 * 4).map(|i| i as u8).collect();
    let mut result = vec![0xee; 10 * 6 * 3];
    let device = driver.allocate(context, 512 * 5 * 4).unwrap();
    let all = Memcpy {
        dst: MemcpyOperand {
            pitch: 512,
            height: 5,
            ..MemcpyOperand::linear(MemcpyAddress::Device(device))
        },
        src: MemcpyOperand::linear(host(&mut source)),
        width: 8,
        height: 5,
        depth: 4,
    };
    // SAFETY: `source` holds 8 × 5 × 4 bytes.
    unsafe { driver.memcpy(context, &all) }.unwrap();
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
            ..all.dst
        },
        width: 3,
        height: 2,
        depth: 2,
    };
    // SAFETY: `result` holds 10 × 6 × 3 bytes, more than slices 1 and 2 with rows 3 and 4.
    unsafe { driver.memcpy(context, &part) }.unwrap();

    let mut expected = vec![0xee; 10 * 6 * 3];
    for (z, y, x) in (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| (z, y, x)))) {
        expected[((z + 1) * 6 + y + 3) * 10 + x + 4] = source[((z + 2) * 5 + y + 1) * 8 + x + 2];
    }
    assert_eq!(result, expected);
}

#[test]
fn pitches_and_bounds_of_boxes_are_checked() {
    let (mut driver, context) = driver();
    let mut bytes = vec![0; 4096];
    let (address, pitch) = driver.allocate_pitched(context, 100, 4, 4).unwrap();
    let good = Memcpy {
        dst: MemcpyOperand {
            pitch,
            ..MemcpyOperand::linear(MemcpyAddress::Device(address))
        },
        src: MemcpyOperand::linear(host(&mut bytes)),
        width: 100,
        height: 4,
        depth: 1,
    };
    let mut copies = [good; 7];
    copies[0].dst.pitch = 99;
    copies[1].height = 5;
    copies[2].dst.y = 1;
    copies[3].dst.x = pitch - 99;
    copies[4].dst.z = 1;
    copies[5].width = u64::MAX;
    copies[6].dst.pitch = MAX_PITCH + 1;
    // SAFETY: `bytes` is longer than what is copied; the other copies are refused.
    unsafe {
        assert_eq!(driver.memcpy(context, &good), Ok(()));
        for copy in &copies {
            assert_eq!(driver.memcpy(context, copy), Err(CudaError::InvalidValue));
        }
    }
}

/// MemcpyAddress of one kind, and every way of naming it that a copy may use.
struct End {
    kind: &'static str,
    host: *mut u8,
    names: Vec<MemcpyAddress>,
}

/// `bytes` bytes of each kind. Host memory is leaked: it has to outlive the driver.
fn ends(driver: &mut Driver, context: ContextId, bytes: usize) -> [End; 5] {
    let leak = || vec![0; bytes].leak().as_mut_ptr();
    let (pageable, registered) = (leak(), leak());
    let length = bytes as u64;
    // SAFETY: never freed.
    unsafe { driver.register_host(context, registered, length) }.unwrap();
    let device = driver.allocate(context, length).unwrap();
    let managed = driver.allocate_managed(context, length).unwrap();
    let locked = driver.allocate_host(context, length).unwrap();
    let everywhere = |kind, address: u64| End {
        kind,
        host: address as *mut u8,
        names: vec![
            MemcpyAddress::Host(address as *mut u8),
            MemcpyAddress::Device(address),
            MemcpyAddress::Unified(address),
        ],
    };
    [
        End {
            kind: "device",
            host: driver.global.host(device, length).unwrap(),
            names: vec![
                MemcpyAddress::Device(device),
                MemcpyAddress::Unified(device),
            ],
        },
        everywhere("managed", managed),
        everywhere("page-locked", locked),
        everywhere("registered", registered as u64),
        End {
            kind: "pageable",
            host: pageable,
            names: vec![
                MemcpyAddress::Host(pageable),
                MemcpyAddress::Unified(pageable as u64),
            ],
        },
    ]
}

/// Boxes between memory of all kinds, however it is named, with other pitches and offsets at
/// each end: every byte of the destination is what it should be.
#[test]
fn every_kind_of_memory_is_copied_to_every_other() {
    const BYTES: usize = 4 * 6 * 40;
    let (mut driver, context) = driver();
    let sources = ends(&mut driver, context, BYTES);
    let results = ends(&mut driver, context, BYTES);
    let operand = |array, [x, y, z, pitch, height]: [u64; 5]| MemcpyOperand {
        array,
        x,
        y,
        z,
        pitch,
        height,
    };
    // Where from, where to, and how much: bytes, rows, slices.
    let boxes = [
        ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [BYTES as u64, 1, 1]),
        ([3, 1, 0, 40, 0], [1, 2, 0, 23, 0], [20, 5, 1]),
        ([0, 0, 0, 24, 0], [0, 0, 0, 24, 0], [24, 6, 1]),
        ([2, 1, 1, 40, 6], [5, 0, 1, 29, 4], [17, 3, 2]),
        ([0, 0, 0, 16, 5], [0, 0, 0, 16, 5], [16, 5, 3]),
    ];
    let pairs = sources.iter().flat_map(|source| {
        let results = results.iter();
        results.map(move |result| (source, result))
    });
    for (source, result) in pairs {
        let sent: [u8; BYTES] = std::array::from_fn(|i| (i % 251) as u8);
        // SAFETY: the source is BYTES bytes long.
        unsafe { sent.as_ptr().copy_to(source.host, BYTES) };
        for (from, to) in source
            .names
            .iter()
            .flat_map(|from| result.names.iter().map(move |to| (from, to)))
        {
            for (from_at, to_at, [width, height, depth]) in boxes {
                // SAFETY: the result is BYTES bytes long.
                unsafe { result.host.write_bytes(0xee, BYTES) };
                let copy = Memcpy {
                    dst: operand(*to, to_at),
                    src: operand(*from, from_at),
                    width,
                    height,
                    depth,
                };
                // SAFETY: all boxes lie within BYTES bytes.
                unsafe { driver.memcpy(context, &copy) }.unwrap();
                let mut expected = [0xee; BYTES];
                for i in 0..width * height * depth {
                    let (x, y, z) = (i % width, i / width % height, i / width / height);
                    let index = |[x0, y0, z0, pitch, rows]: [u64; 5]| {
                        (((z + z0) * rows + y + y0) * pitch + x + x0) as usize
                    };
                    expected[index(to_at)] = sent[index(from_at)];
                }
                // SAFETY: as above; nobody writes to it while this looks.
                let got = unsafe { std::slice::from_raw_parts(result.host, BYTES) };
                assert_eq!(
                    *got, expected,
                    "{} as {from:?} to {} as {to:?}, {copy:?}",
                    source.kind, result.kind
                );
            }
        }
    }
}

#[test]
fn copies_take_modelled_time_by_the_memory_they_touch() {
    const BYTES: u64 = 6_000_000;
    let (mut driver, context) = driver();
    let start = driver.create_event(context, 0).unwrap();
    let end = driver.create_event(context, 0).unwrap();
    let sources = ends(&mut driver, context, BYTES as usize);
    let results = ends(&mut driver, context, BYTES as usize);
    let device = driver.device().clone();
    let link = [device.page_locked_copy, device.pageable_copy];
    let (within, host) = (device.device_copy, device.host_copy);
    // From each kind, a row, to each kind: device, managed, page-locked, registered, pageable.
    let rates = [
        [within, within, link[0], link[0], link[1]],
        [within, within, link[0], link[0], link[1]],
        [link[0], link[0], host, host, host],
        [link[0], link[0], host, host, host],
        [link[1], link[1], host, host, host],
    ];
    for (source, row) in sources.iter().zip(rates) {
        for (result, rate) in results.iter().zip(row) {
            for (from, to) in source.names.iter().zip(&result.names) {
                driver
                    .record_event(context, start, StreamId::LEGACY)
                    .unwrap();
                linear(&mut driver, *to, *from, BYTES).unwrap();
                driver.record_event(context, end, StreamId::LEGACY).unwrap();
                let expected = rate.seconds(BYTES) * 1e3;
                driver.synchronize_event(end).unwrap();
                let took = f64::from(driver.elapsed_time(start, end).unwrap());
                assert!(
                    (took / expected - 1.0).abs() < 1e-6,
                    "{} as {from:?} to {} as {to:?}: {took} ms",
                    source.kind,
                    result.kind
                );
            }
        }
    }
    assert!(link[0].bandwidth > link[1].bandwidth);
}

/// What the host does next cannot start before the copy is over where the driver itself has to
/// touch the memory; elsewhere it overlaps.
#[test]
fn an_asynchronous_copy_of_pageable_memory_keeps_the_host() {
    const BYTES: u64 = 1 << 20;
    let (mut driver, context) = driver();
    let sources = ends(&mut driver, context, BYTES as usize);
    let results = ends(&mut driver, context, BYTES as usize);
    for source in &sources {
        for result in &results {
            let streams = [(); 2].map(|()| driver.create_stream(context, 1, 0).unwrap());
            let events = [(); 2].map(|()| driver.create_event(context, 0).unwrap());
            let copy = Memcpy::linear(result.names[0], source.names[0], BYTES);
            driver.record_event(context, events[0], streams[1]).unwrap();
            // SAFETY: both ends are as long as the copy.
            unsafe { driver.memcpy_async(context, streams[0], &copy) }.unwrap();
            driver.record_event(context, events[1], streams[1]).unwrap();
            driver.synchronize_event(events[1]).unwrap();
            let waited = driver.elapsed_time(events[0], events[1]).unwrap() > 0.0;
            let kinds = [source.kind, result.kind];
            let by_the_host = kinds
                .iter()
                .all(|kind| !matches!(*kind, "device" | "managed"));
            let expected = by_the_host || kinds.contains(&"pageable");
            assert_eq!(waited, expected, "{kinds:?}");
            driver.synchronize_context(context).unwrap();
        }
    }
}

#[test]
fn an_unknown_stream_is_refused_before_anything_is_copied() {
    let (mut driver, context) = driver();
    let mut bytes = [1u8; 4];
    let address = driver.allocate(context, 4).unwrap();
    let copy = Memcpy::linear(MemcpyAddress::Device(address), host(&mut bytes), 4);
    // SAFETY: `bytes` holds 4 bytes.
    let refused = unsafe { driver.memcpy_async(context, StreamId(77), &copy) };
    assert_eq!(refused, Err(CudaError::InvalidHandle));
    linear(
        &mut driver,
        host(&mut bytes),
        MemcpyAddress::Device(address),
        4,
    )
    .unwrap();
    assert_eq!(bytes, [0; 4]);
}
