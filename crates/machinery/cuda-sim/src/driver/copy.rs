//! Copies: one routine for 1D, 2D and 3D, between host and device in either direction.

use super::memory::MAX_PITCH;
use super::timeline::Engine;
use super::{ContextId, CudaError, Driver, StreamId};
use crate::memory::global::{AllocationKind, BASE};

/// Which memory an end of a copy is in, and where that memory starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Host memory.
    Host(*mut u8),
    /// Device memory, or host memory mapped into the device.
    Device(u64),
    /// Either: the address says which.
    Unified(u64),
}

/// One end of a copy: a position in an array of rows and slices. Bytes, rows and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where the array starts.
    pub memory: Memory,
    /// First byte within a row.
    pub x: u64,
    /// First row within a slice.
    pub y: u64,
    /// First slice.
    pub z: u64,
    /// Bytes from a row to the next; 0: rows lie close together.
    pub pitch: u64,
    /// Rows from a slice to the next; 0: slices lie close together.
    pub rows: u64,
}

impl Place {
    /// The start of unstructured `memory`.
    pub fn linear(memory: Memory) -> Self {
        Self {
            memory,
            x: 0,
            y: 0,
            z: 0,
            pitch: 0,
            rows: 0,
        }
    }
}

/// A copy of `depth` slices of `height` rows of `width` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Where to.
    pub to: Place,
    /// Where from.
    pub from: Place,
    /// Bytes of a row.
    pub width: u64,
    /// Rows of a slice.
    pub height: u64,
    /// Slices.
    pub depth: u64,
}

impl Copy {
    /// A copy of `bytes` bytes in a row.
    pub fn linear(to: Memory, from: Memory, bytes: u64) -> Self {
        Self {
            to: Place::linear(to),
            from: Place::linear(from),
            width: bytes,
            height: 1,
            depth: 1,
        }
    }
}

/// One end of a copy, found and checked.
struct Region {
    start: *mut u8,
    /// The address of that.
    first: u64,
    pitch: usize,
    slice: usize,
    location: Location,
}

/// Where the bytes of one end are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Location {
    Device,
    /// Host memory that the device reaches by itself: allocated by the driver or registered.
    PageLocked,
    /// Any other host memory.
    Pageable,
}

impl Driver {
    /// Copies in the legacy default stream. The host waits, unless both ends are on the device.
    /// Modelled time depends on what host memory it is: page-locked or pageable.
    ///
    /// An empty copy does nothing. [`CudaError::InvalidValue`]: null, freed or unknown memory, a
    /// device range that leaves its allocation, a pitch less than the row or slices that overlap.
    ///
    /// # Safety
    /// Host ranges must be readable (source) or writable (destination), and no other thread may
    /// use either range meanwhile.
    pub unsafe fn copy(&mut self, context: ContextId, copy: &Copy) -> Result<(), CudaError> {
        let stream = StreamId::LEGACY;
        // SAFETY: the caller's promise.
        let ends = unsafe { self.run_copy(context, stream, copy) }?;
        if ends != [Location::Device; 2] {
            let context = self.context_mut(context)?;
            context.timeline.synchronize(stream)?;
        }
        Ok(())
    }

    /// Copies in `stream`. In modelled time the host does not wait, unless an end is pageable
    /// memory, which the driver itself has to read or write, or both ends are the host's.
    ///
    /// # Safety
    /// As [`Driver::copy`].
    pub unsafe fn copy_async(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Copy,
    ) -> Result<(), CudaError> {
        // SAFETY: the caller's promise.
        let ends = unsafe { self.run_copy(context, stream, copy) }?;
        if ends.contains(&Location::Pageable) || !ends.contains(&Location::Device) {
            let context = self.context_mut(context)?;
            context.timeline.synchronize(stream)?;
        }
        Ok(())
    }

    /// Copies and charges `stream` for it; returns where the two ends lie. (Those of an empty copy
    /// are not looked at; it keeps nobody waiting.)
    ///
    /// # Safety
    /// As [`Driver::copy`].
    unsafe fn run_copy(
        &mut self,
        context: ContextId,
        stream: StreamId,
        copy: &Copy,
    ) -> Result<[Location; 2], CudaError> {
        self.context_mut(context)?.timeline.record(stream)?;
        let bytes = copy.width.checked_mul(copy.height);
        let bytes = bytes.and_then(|bytes| bytes.checked_mul(copy.depth));
        let bytes = bytes.ok_or(CudaError::InvalidValue)?;
        if bytes == 0 {
            return Ok([Location::Device; 2]);
        }
        let to = self.region(&copy.to, copy)?;
        let from = self.region(&copy.from, copy)?;
        // SAFETY: device ranges were found inside one live allocation, host ranges are the
        // caller's promise.
        unsafe { copy_rows(&to, &from, copy) };
        let rows = (0..copy.depth).flat_map(|z| (0..copy.height).map(move |y| (y, z)));
        let row = |end: &Region, (y, z): (u64, u64)| {
            end.first + y * end.pitch as u64 + z * end.slice as u64
        };
        let rows = rows.map(|place| (row(&to, place), row(&from, place), copy.width));
        self.global.copied(to.first, from.first, rows);

        let ends = [to.location, from.location];
        let engine = match ends {
            [Location::Device, Location::Device] => Engine::DeviceToDevice,
            [Location::Device, _] => Engine::HostToDevice,
            [_, Location::Device] => Engine::DeviceToHost,
            [_, _] => Engine::Host,
        };
        let rate = match engine {
            Engine::DeviceToDevice => self.device.device_copy,
            Engine::Host => self.device.host_copy,
            _ if ends.contains(&Location::Pageable) => self.device.pageable_copy,
            _ => self.device.page_locked_copy,
        };
        let context = self.context_mut(context)?;
        context.timeline.run(stream, engine, rate.seconds(bytes))?;
        Ok(ends)
    }

    /// Finds one end of `copy` and checks all that can be checked.
    fn region(&self, place: &Place, copy: &Copy) -> Result<Region, CudaError> {
        let layout = Layout::new(place, copy).ok_or(CudaError::InvalidValue)?;
        let (base, must_be_mapped) = match place.memory {
            Memory::Host(host) => (host as u64, false),
            Memory::Unified(address) => (address, address >= BASE),
            Memory::Device(address) => (address, true),
        };
        let first = base.checked_add(layout.first);
        let first = first.ok_or(CudaError::InvalidValue)?;
        let past = first.checked_add(layout.span);
        let past = past.ok_or(CudaError::InvalidValue)?;

        let (start, location) = match self.global.allocation(base) {
            Some(found) => {
                let start = self.global.host(first, layout.span);
                let location = match found.kind {
                    AllocationKind::Device | AllocationKind::Managed => Location::Device,
                    AllocationKind::Host | AllocationKind::Registered => Location::PageLocked,
                };
                // The allocation is known, so its end is too, even where it is host memory.
                (start.ok_or(CudaError::InvalidValue)?, location)
            }
            None if must_be_mapped || base == 0 || past > BASE => {
                return Err(CudaError::InvalidValue);
            }
            None => (first as *mut u8, Location::Pageable),
        };
        if matches!(place.memory, Memory::Host(_)) && base >= BASE {
            return Err(CudaError::InvalidValue);
        }
        Ok(Region {
            start,
            first,
            pitch: layout.pitch as usize,
            slice: layout.slice as usize,
            location,
        })
    }
}

/// Where the bytes of one end lie relative to its base.
struct Layout {
    /// Bytes before the first one copied.
    first: u64,
    /// Bytes from the first one copied to past the last.
    span: u64,
    pitch: u64,
    slice: u64,
}

impl Layout {
    /// `None` if rows or slices would overlap or a number overflows.
    fn new(place: &Place, copy: &Copy) -> Option<Self> {
        let row = place.x.checked_add(copy.width)?;
        let pitch = at_least(place.pitch, row)?;
        if pitch > MAX_PITCH && place.pitch != 0 {
            return None;
        }
        let rows = place.y.checked_add(copy.height)?;
        // With a single slice the height of a slice means nothing.
        let rows = match (copy.depth, place.z) {
            (1, 0) => rows,
            _ => at_least(place.rows, rows)?,
        };
        let slice = pitch.checked_mul(rows)?;
        let first = place.z.checked_mul(slice)?;
        let first = first.checked_add(place.y.checked_mul(pitch)?)?;
        let first = first.checked_add(place.x)?;
        let span = (copy.depth - 1).checked_mul(slice)?;
        let span = span.checked_add((copy.height - 1).checked_mul(pitch)?)?;
        let span = span.checked_add(copy.width)?;
        Some(Self {
            first,
            span,
            pitch,
            slice,
        })
    }
}

/// `given`, or `needed` where 0 is given; `None` if what is given is too little.
fn at_least(given: u64, needed: u64) -> Option<u64> {
    match given {
        0 => Some(needed),
        enough if enough >= needed => Some(enough),
        _ => None,
    }
}

/// # Safety
/// All rows of both regions must be valid memory.
unsafe fn copy_rows(to: &Region, from: &Region, copy: &Copy) {
    let (width, height) = (copy.width as usize, copy.height as usize);
    for z in 0..copy.depth as usize {
        let (to_slice, from_slice) = (
            to.start.wrapping_add(z * to.slice),
            from.start.wrapping_add(z * from.slice),
        );
        if to.pitch == width && from.pitch == width {
            // SAFETY: the rows of a slice lie close together at both ends, and are valid.
            unsafe { std::ptr::copy(from_slice, to_slice, width * height) };
            continue;
        }
        for y in 0..height {
            // SAFETY: row `y` of slice `z` is valid at both ends.
            unsafe {
                std::ptr::copy(
                    from_slice.wrapping_add(y * from.pitch),
                    to_slice.wrapping_add(y * to.pitch),
                    width,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::driver;
    use super::*;

    fn host(bytes: &mut [u8]) -> Memory {
        Memory::Host(bytes.as_mut_ptr())
    }

    fn linear(driver: &mut Driver, to: Memory, from: Memory, bytes: u64) -> Result<(), CudaError> {
        let context = driver.retain_primary();
        // SAFETY: the tests' host arrays are as long as the copies between them.
        unsafe { driver.copy(context, &Copy::linear(to, from, bytes)) }
    }

    #[test]
    fn bytes_go_there_and_back() {
        let (mut driver, context) = driver();
        let mut source: Vec<u8> = (0..100).collect();
        let mut result = vec![0; 100];
        let first = driver.allocate(context, 100).unwrap();
        let second = driver.allocate(context, 100).unwrap();
        linear(&mut driver, Memory::Device(first), host(&mut source), 100).unwrap();
        linear(
            &mut driver,
            Memory::Device(second + 10),
            Memory::Device(first),
            90,
        )
        .unwrap();
        linear(&mut driver, host(&mut result), Memory::Unified(second), 100).unwrap();
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
            let to = Memory::Device(bad);
            assert_eq!(linear(&mut driver, to, host(&mut bytes), 100), refused);
            assert_eq!(linear(&mut driver, host(&mut bytes), to, 100), refused);
        }
        let null = Memory::Host(std::ptr::null_mut());
        assert_eq!(
            linear(&mut driver, Memory::Device(address), null, 4),
            refused
        );
        let device_as_host = Memory::Host(address as *mut u8);
        assert_eq!(
            linear(&mut driver, Memory::Device(address), device_as_host, 4),
            refused
        );
        assert_eq!(
            linear(
                &mut driver,
                host(&mut bytes),
                Memory::Unified(address + 100),
                4
            ),
            refused
        );
        driver.free(context, address).unwrap();
        assert_eq!(
            linear(&mut driver, Memory::Device(address), host(&mut bytes), 4),
            refused
        );
    }

    #[test]
    fn an_empty_copy_looks_at_nothing() {
        let (mut driver, _) = driver();
        let nowhere = Memory::Device(0);
        assert_eq!(linear(&mut driver, nowhere, nowhere, 0), Ok(()));
    }

    #[test]
    fn mapped_host_memory_is_copied_by_its_address() {
        let (mut driver, context) = driver();
        let pinned = driver.allocate_host(context, 16).unwrap();
        let managed = driver.allocate_managed(context, 16).unwrap();
        let mut source = [5u8; 16];
        linear(&mut driver, Memory::Device(pinned), host(&mut source), 16).unwrap();
        linear(
            &mut driver,
            Memory::Unified(managed),
            Memory::Unified(pinned),
            16,
        )
        .unwrap();
        // SAFETY: managed memory is host memory, 16 bytes of it.
        let found = unsafe { std::slice::from_raw_parts(managed as *const u8, 16) };
        assert_eq!(found, source);
        assert_eq!(
            linear(
                &mut driver,
                Memory::Unified(pinned + 8),
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
        let all = Copy {
            to: Place {
                pitch: 512,
                rows: 5,
                ..Place::linear(Memory::Device(device))
            },
            from: Place::linear(host(&mut source)),
            width: 8,
            height: 5,
            depth: 4,
        };
        // SAFETY: `source` holds 8 × 5 × 4 bytes.
        unsafe { driver.copy(context, &all) }.unwrap();
        let part = Copy {
            to: Place {
                memory: host(&mut result),
                x: 4,
                y: 3,
                z: 1,
                pitch: 10,
                rows: 6,
            },
            from: Place {
                x: 2,
                y: 1,
                z: 2,
                ..all.to
            },
            width: 3,
            height: 2,
            depth: 2,
        };
        // SAFETY: `result` holds 10 × 6 × 3 bytes, more than slices 1 and 2 with rows 3 and 4.
        unsafe { driver.copy(context, &part) }.unwrap();

        let mut expected = vec![0xee; 10 * 6 * 3];
        for (z, y, x) in
            (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| (z, y, x))))
        {
            expected[((z + 1) * 6 + y + 3) * 10 + x + 4] =
                source[((z + 2) * 5 + y + 1) * 8 + x + 2];
        }
        assert_eq!(result, expected);
    }

    #[test]
    fn pitches_and_bounds_of_boxes_are_checked() {
        let (mut driver, context) = driver();
        let mut bytes = vec![0; 4096];
        let (address, pitch) = driver.allocate_pitched(context, 100, 4, 4).unwrap();
        let good = Copy {
            to: Place {
                pitch,
                ..Place::linear(Memory::Device(address))
            },
            from: Place::linear(host(&mut bytes)),
            width: 100,
            height: 4,
            depth: 1,
        };
        let mut copies = [good; 7];
        copies[0].to.pitch = 99;
        copies[1].height = 5;
        copies[2].to.y = 1;
        copies[3].to.x = pitch - 99;
        copies[4].to.z = 1;
        copies[5].width = u64::MAX;
        copies[6].to.pitch = MAX_PITCH + 1;
        // SAFETY: `bytes` is longer than what is copied; the other copies are refused.
        unsafe {
            assert_eq!(driver.copy(context, &good), Ok(()));
            for copy in &copies {
                assert_eq!(driver.copy(context, copy), Err(CudaError::InvalidValue));
            }
        }
    }

    /// Memory of one kind, and every way of naming it that a copy may use.
    struct End {
        kind: &'static str,
        host: *mut u8,
        names: Vec<Memory>,
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
                Memory::Host(address as *mut u8),
                Memory::Device(address),
                Memory::Unified(address),
            ],
        };
        [
            End {
                kind: "device",
                host: driver.global.host(device, length).unwrap(),
                names: vec![Memory::Device(device), Memory::Unified(device)],
            },
            everywhere("managed", managed),
            everywhere("page-locked", locked),
            everywhere("registered", registered as u64),
            End {
                kind: "pageable",
                host: pageable,
                names: vec![Memory::Host(pageable), Memory::Unified(pageable as u64)],
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
        let place = |memory, [x, y, z, pitch, rows]: [u64; 5]| Place {
            memory,
            x,
            y,
            z,
            pitch,
            rows,
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
                    let copy = Copy {
                        to: place(*to, to_at),
                        from: place(*from, from_at),
                        width,
                        height,
                        depth,
                    };
                    // SAFETY: all boxes lie within BYTES bytes.
                    unsafe { driver.copy(context, &copy) }.unwrap();
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
                    driver.record(context, start, StreamId::LEGACY).unwrap();
                    linear(&mut driver, *to, *from, BYTES).unwrap();
                    driver.record(context, end, StreamId::LEGACY).unwrap();
                    let expected = rate.seconds(BYTES) * 1e3;
                    driver.synchronize_event(end).unwrap();
                    let took = f64::from(driver.elapsed(start, end).unwrap());
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
                let copy = Copy::linear(result.names[0], source.names[0], BYTES);
                driver.record(context, events[0], streams[1]).unwrap();
                // SAFETY: both ends are as long as the copy.
                unsafe { driver.copy_async(context, streams[0], &copy) }.unwrap();
                driver.record(context, events[1], streams[1]).unwrap();
                driver.synchronize_event(events[1]).unwrap();
                let waited = driver.elapsed(events[0], events[1]).unwrap() > 0.0;
                let kinds = [source.kind, result.kind];
                let by_the_host = kinds
                    .iter()
                    .all(|kind| !matches!(*kind, "device" | "managed"));
                let expected = by_the_host || kinds.contains(&"pageable");
                assert_eq!(waited, expected, "{kinds:?}");
                driver.synchronize(context).unwrap();
            }
        }
    }

    #[test]
    fn an_unknown_stream_is_refused_before_anything_is_copied() {
        let (mut driver, context) = driver();
        let mut bytes = [1u8; 4];
        let address = driver.allocate(context, 4).unwrap();
        let copy = Copy::linear(Memory::Device(address), host(&mut bytes), 4);
        // SAFETY: `bytes` holds 4 bytes.
        let refused = unsafe { driver.copy_async(context, StreamId(77), &copy) };
        assert_eq!(refused, Err(CudaError::InvalidHandle));
        linear(&mut driver, host(&mut bytes), Memory::Device(address), 4).unwrap();
        assert_eq!(bytes, [0; 4]);
    }
}
