//! Bulk copies of tensors (`cp.async.bulk.tensor`), and instructions on tensor maps.

use crate::harness::*;
use cuda_sim::check::{BulkCopyMisuse, Checks};
use cuda_sim::exec::FaultKind;
use cuda_sim::memory::tensor_map::{ElementType, Extent, Im2col, Interleave, Swizzle, TensorMap};

/// The bytes of the tile in shared memory.
const TILE: u32 = 8192;

/// Returns a module with one kernel, `k`, which gets a tensor map as a parameter, the number of bytes to expect and two
/// coordinates. The tile is filled with 0xeeeeeeee, and at the end the whole tile is stored at `%out`.
fn module(copy: &str) -> String {
    format!(
        ".version 8.3
.target sm_90a
.address_size 64
.const .align 64 .b8 constant_map[128];
.global .align 128 .b8 global_map[128];
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, .param .u32 bytes, .param .u32 x, .param .u32 y) {{
    .reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b32 %t, %n, %x, %y; .reg .b64 %d<16>; .reg .b64 %map, %out;
    .shared .align 1024 .b8 tile[{TILE}]; .shared .align 128 .b8 shared_map[128]; .shared .align 8 .b64 bar;
    mov.b64 %d1, map; cvta.param.u64 %map, %d1;
    ld.param.u64 %out, [p]; ld.param.u32 %n, [bytes]; ld.param.u32 %x, [x]; ld.param.u32 %y, [y];
    mov.u32 %t, %tid.x;
    setp.eq.u32 %p1, %t, 0;
    @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
    mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; mov.u32 %r4, 0;
FILL:
    st.shared.u32 [%r3], 0xeeeeeeee;
    add.u32 %r3, %r3, 256; add.u32 %r4, %r4, 256; setp.lt.u32 %p2, %r4, {TILE}; @%p2 bra FILL;
    fence.proxy.async.shared::cta; bar.sync 0;
    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %n;
{copy}
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
    @!%p2 bra WAIT;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], {TILE};
    ret;
}}
"
    )
}

const LOAD: &str =
    "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [tile], [%map, {%x, %y}], [bar];";

fn map_of(
    element: ElementType,
    address: u64,
    [width, height]: [u64; 2],
    size: [u32; 2],
) -> TensorMap {
    TensorMap {
        element,
        rank: 2,
        interleave: Interleave::None,
        swizzle: Swizzle::None,
        promotion: 0,
        fills_nan: false,
        address,
        sizes: [width, height, 0, 0, 0],
        strides: [pitch(element, width), 0, 0, 0],
        steps: [1, 1, 0, 0, 0],
        extent: Extent::Tile([size[0], size[1], 0, 0, 0]),
    }
}

/// Returns the distance in bytes between the rows of an array.
fn pitch(element: ElementType, width: u64) -> u64 {
    (width * element.bytes()).next_multiple_of(16) + 16
}

/// Returns the bytes of an array: each byte is different from its neighbours.
fn array(element: ElementType, [width, height]: [u64; 2]) -> Vec<u8> {
    let bytes = pitch(element, width) * height;
    (0..bytes).map(|at| (at * 7 + at / 251 + 1) as u8).collect()
}

/// Returns the tile that a load leaves in shared memory, computed byte by byte.
fn expected_tile(map: &TensorMap, data: &[u8], [x, y]: [i32; 2]) -> Vec<u8> {
    let mut tile = vec![0xee; TILE as usize];
    let Extent::Tile(size) = map.extent else {
        panic!("not a tile");
    };
    let width = map.element.bytes() as i64;
    let span = map.swizzle.span();
    let row_pitch = span.unwrap_or(u64::from(size[0]) * map.element.bytes());
    for row in 0..size[1].div_ceil(map.steps[1]) {
        for byte in 0..i64::from(size[0]) * width {
            let column = i64::from(x) + byte / width;
            let line = i64::from(y) + i64::from(row * map.steps[1]);
            let is_inside = (0..map.sizes[0] as i64).contains(&column)
                && (0..map.sizes[1] as i64).contains(&line);
            let value = match is_inside {
                true => {
                    data[(line * map.strides[0] as i64 + column * width + byte % width) as usize]
                }
                false if map.fills_nan => [0xf7, 0x7f][(byte % 2) as usize],
                false => 0,
            };
            let at = u64::from(row) * row_pitch + byte as u64;
            let units = span.map_or(1, |span| span / 16);
            let unit = (at / 16 % 8) ^ (at / 128 % units);
            tile[(at / 128 * 128 + unit * 16 + at % 16) as usize] = value;
        }
    }
    tile
}

/// Runs the kernel and returns the tile.
fn load(machine: &mut Machine, map: &TensorMap, [x, y]: [i32; 2]) -> Vec<u8> {
    assert!(map.is_valid(), "{map:?}");
    let out = machine.out::<u8>(TILE as usize);
    let bytes = map.copied_bytes() as u32;
    let report = machine.run("k", 1, 64, params![map.encode(), out, bytes, x, y]);
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    machine.read(out, TILE as usize)
}

#[test]
fn tiles_load_in_every_swizzle() {
    let element = ElementType::U16;
    for (swizzle, width) in [
        (Swizzle::None, 40),
        (Swizzle::Span32, 16),
        (Swizzle::Span64, 32),
        (Swizzle::Span128, 64),
        (Swizzle::Span128, 24),
    ] {
        let sizes = [70, 21];
        for height in [1, 7, 32] {
            for position in [
                [0, 0],
                [8, 3],
                [-8, -2],
                [56, 20],
                [-64, 0],
                [0, 21],
                [1 << 20, 0],
            ] {
                let mut machine = Machine::checking(&module(LOAD), Checks::ALL);
                let data = array(element, sizes);
                let address = machine.buffer(&data);
                let map = TensorMap {
                    swizzle,
                    ..map_of(element, address, sizes, [width, height])
                };
                let actual = load(&mut machine, &map, position);
                let expected = expected_tile(&map, &data, position);
                assert!(
                    actual == expected,
                    "{swizzle:?} {width} {height} {position:?}"
                );
            }
        }
    }
}

#[test]
fn elements_outside_are_zero_or_nan() {
    for element in [
        ElementType::U8,
        ElementType::F16,
        ElementType::BF16,
        ElementType::F32,
        ElementType::S64,
    ] {
        for fills_nan in [false, element.is_float()] {
            let mut machine = Machine::new(&module(LOAD));
            let sizes = [20, 5];
            let data = array(element, sizes);
            let address = machine.buffer(&data);
            let map = TensorMap {
                fills_nan,
                ..map_of(element, address, sizes, [16, 8])
            };
            let position = [16 / element.bytes() as i32, -1];
            let actual = load(&mut machine, &map, position);
            assert!(
                actual == expected_tile(&map, &data, position),
                "{element:?} {fills_nan}"
            );
        }
    }
}

#[test]
fn element_strides_skip_rows() {
    for step in [1, 2, 3, 8] {
        for position in [[0, 0], [4, -4]] {
            let mut machine = Machine::new(&module(LOAD));
            let (element, sizes) = (ElementType::U32, [12, 30]);
            let data = array(element, sizes);
            let address = machine.buffer(&data);
            let map = TensorMap {
                steps: [1, step, 0, 0, 0],
                ..map_of(element, address, sizes, [8, 17])
            };
            let actual = load(&mut machine, &map, position);
            assert!(
                actual == expected_tile(&map, &data, position),
                "{step} {position:?}"
            );
        }
    }
}

#[test]
fn tensor_maps_may_be_in_any_readable_memory() {
    for (name, set_up) in [
        ("%map", ""),
        ("map", ""),
        (
            "global_map",
            "mov.u64 %d2, global_map; ld.param.u64 %d3, [p]; prefetch.tensormap [%d2];",
        ),
        (
            "constant_map",
            "mov.u64 %d2, constant_map; cvta.const.u64 %d2, %d2;",
        ),
        ("%d2", "mov.u64 %d2, constant_map; cvta.const.u64 %d2, %d2;"),
    ] {
        let mut machine = Machine::new(&module(&format!("{set_up}{}", LOAD.replace("%map", name))));
        let (element, sizes) = (ElementType::U32, [8, 8]);
        let data = array(element, sizes);
        let address = machine.buffer(&data);
        let map = map_of(element, address, sizes, [8, 8]);
        for variable in ["global_map", "constant_map"] {
            let at = machine
                .variable(variable)
                .expect("the module has the variable");
            machine.write(at, &map.encode());
        }
        let actual = load(&mut machine, &map, [0, 0]);
        assert!(actual == expected_tile(&map, &data, [0, 0]), "{name}");
    }
}

/// A tile is loaded at one position and stored or added at another, partly outside the array.
#[test]
fn stores_and_reductions_are_clipped() {
    let body = |instruction: &str| {
        let wait =
            "WAIT0: mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0; @!%p2 bra WAIT0;";
        format!(
            "mov.u32 %r5, 0;
            {} {wait}
            @%p1 {instruction} [%map, {{%x, %y}}], [tile];
            @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;",
            LOAD.replace("{%x, %y}", "{%r5, %r5}")
        )
    };
    for (instruction, adds) in [
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group",
            false,
        ),
        (
            "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group",
            false,
        ),
        (
            "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group",
            true,
        ),
    ] {
        for swizzle in [Swizzle::None, Swizzle::Span64] {
            for position in [[0, 0], [4, 2], [8, 9], [12, 0], [0, 10]] {
                let mut machine = Machine::checking(&module(&body(instruction)), Checks::ALL);
                let (element, sizes) = (ElementType::U32, [12, 10]);
                let data = array(element, sizes);
                let address = machine.buffer(&data);
                let map = TensorMap {
                    swizzle,
                    ..map_of(element, address, sizes, [16, 4])
                };
                load(&mut machine, &map, position);
                let words: Vec<u32> = bytemuck::pod_collect_to_vec(&data);
                let mut expected = words.clone();
                let pitch = pitch(element, 12) as i32 / 4;
                for row in 0..4 {
                    for column in 0..16 {
                        let [x, y] = [position[0] + column, position[1] + row];
                        if (0..12).contains(&x) && (0..10).contains(&y) {
                            let from = match column {
                                0..12 => words[(row * pitch + column) as usize],
                                _ => 0,
                            };
                            let to = &mut expected[(y * pitch + x) as usize];
                            *to = if adds { to.wrapping_add(from) } else { from };
                        }
                    }
                }
                assert_memory(
                    &machine,
                    address,
                    &expected,
                    format!("{instruction} {position:?}"),
                );
            }
        }
    }
}

#[test]
fn im2col_copies_take_pixels_of_the_bounding_box() {
    let copy = "mov.u16 %h1, 1; mov.u16 %h2, 2; mov.u32 %r5, 0;
        @%p1 cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
        [tile], [%map, {%r5, %x, %y, %r5}], [bar], {%h1, %h2};";
    let mut machine = Machine::new(&module(copy));
    let (channels, width, height, images) = (4, 6, 5, 2);
    let data: Vec<u32> = (0..channels * width * height * images)
        .map(|word| word as u32 + 1)
        .collect();
    let address = machine.buffer(&data);
    let map = TensorMap {
        rank: 4,
        sizes: [channels, width, height, images, 0],
        strides: [
            channels * 4,
            channels * width * 4,
            channels * width * height * 4,
            0,
        ],
        steps: [1, 1, 1, 1, 0],
        extent: Extent::Im2col(Im2col {
            lower: [-1, -1, 0],
            upper: [-1, -2, 0],
            channels: 4,
            pixels: 30,
        }),
        ..map_of(ElementType::U32, address, [4, 4], [4, 4])
    };
    let actual: Vec<u32> = bytemuck::pod_collect_to_vec(&load(&mut machine, &map, [2, -1]));
    // The pixels of the box in order, from the third of the first row on.
    let (width, height) = (width as i64, height as i64);
    let boxed = (0..2)
        .flat_map(|n| (-1..height - 2).flat_map(move |y| (-1..width - 1).map(move |x| [x, y, n])));
    for (number, [x, y, n]) in boxed.skip(3).take(30).enumerate() {
        let [x, y] = [x + 1, y + 2];
        let is_inside = (0..width).contains(&x) && (0..height).contains(&y);
        let first = match is_inside {
            true => Some(((n * height + y) * width + x) as u32 * 4 + 1),
            false => None,
        };
        let expected: Vec<u32> = (0..4).map(|c| first.map_or(0, |first| first + c)).collect();
        assert_eq!(actual[number * 4..][..4], expected, "pixel {number}");
    }
}

/// The kernel changes a copy of the map in shared memory, and passes it on in global memory.
#[test]
fn fields_of_tensor_maps_can_be_replaced() {
    let copy = format!(
        "setp.lt.u32 %p3, %t, 32;
        mov.u32 %r5, shared_map; add.u32 %r6, %r5, %r2; add.u64 %d2, %map, 0;
        cvt.u64.u32 %d3, %r2; add.u64 %d3, %map, %d3;
        @%p3 ld.b32 %r7, [%d3]; @%p3 st.shared.u32 [%r6], %r7;
        bar.sync 0;
        ld.param.u64 %d4, [p]; add.u64 %d4, %d4, {TILE};
        mov.u32 %r8, 5; mov.u64 %d5, 48;
        @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [shared_map], %d4;
        @%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [shared_map], 1;
        @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [shared_map], 1, %r8;
        @%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [shared_map], 0, %d5;
        @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [shared_map], 1, 9;
        @%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [shared_map], 1, 2;
        @%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [shared_map], 7;
        @%p1 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [shared_map], 0;
        @%p1 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [shared_map], 1;
        @%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [shared_map], 1;
        bar.sync 0;
        mov.u64 %map, global_map;
        @%p3 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
            [%map], [shared_map], 128;
        fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
        bar.sync 0;
        {LOAD}"
    );
    let mut machine = Machine::new(&module(&copy));
    let data: Vec<u8> = (0..5 * 48).collect();
    let out = machine.buffer(&[vec![0; TILE as usize], data.clone()].concat());
    let map = map_of(ElementType::U32, 0, [8, 99], [8, 8]);
    let replaced = TensorMap {
        address: out + u64::from(TILE),
        sizes: [8, 5, 0, 0, 0],
        strides: [48, 0, 0, 0],
        steps: [1, 2, 0, 0, 0],
        element: ElementType::F32,
        swizzle: Swizzle::Span32,
        fills_nan: true,
        extent: Extent::Tile([8, 9, 0, 0, 0]),
        ..map
    };
    let bytes = replaced.copied_bytes() as u32;
    machine.run("k", 1, 64, params![map.encode(), out, bytes, 4i32, -1i32]);
    let actual: Vec<u8> = machine.read(out, TILE as usize);
    assert!(actual == expected_tile(&replaced, &data, [4, -1]));
}

/// Positions that an H200 rejects: the first coordinate is not at a multiple of 16 bytes, or a store has a negative one.
#[test]
fn positions_of_tensor_copies_are_checked() {
    const STORE: &str =
        "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%x, %y}], [tile];
        @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;";
    for (copy, [x, y], message) in [
        (LOAD, [1, 0], "starts at 4 bytes of a row"),
        (LOAD, [-3, 2], "starts at -12 bytes of a row"),
        (STORE, [2, 0], "starts at 8 bytes of a row"),
        (STORE, [-4, 0], "the coordinate -4 is negative"),
        (STORE, [0, -1], "the coordinate -1 is negative"),
    ] {
        let mut machine = Machine::new(&module(copy));
        let data = array(ElementType::U32, [12, 10]);
        let address = machine.buffer(&data);
        let map = map_of(ElementType::U32, address, [12, 10], [8, 4]);
        let out = machine.out::<u8>(TILE as usize);
        let parameters = params![map.encode(), out, map.copied_bytes() as u32, x, y];
        let fault = machine
            .launch(&Launch::new("k", 1, 64, parameters))
            .expect_err(message);
        assert!(fault.to_string().contains(message), "{fault}");
    }
}

#[test]
fn invalid_tensor_copies_fault() {
    let fault = |copy: &str, map: [u8; 128]| {
        let mut machine = Machine::new(&module(copy));
        let out = machine.out::<u8>(TILE as usize);
        let launch = Launch::new("k", 1, 64, params![map, out, 0u32, 0i32, 0i32]);
        machine.launch(&launch).expect_err(copy).kind
    };
    let map = map_of(ElementType::U32, 0, [8, 8], [8, 8]);
    let three = LOAD.replace("2d", "3d").replace("%y}", "%y, %y}");
    for (copy, map, expected) in [
        (
            LOAD,
            TensorMap {
                swizzle: Swizzle::Span32,
                extent: Extent::Tile([16, 8, 0, 0, 0]),
                ..map
            },
            BulkCopyMisuse::InvalidTensorMap,
        ),
        (&three, map, BulkCopyMisuse::OtherRank(3, 2)),
    ] {
        assert_eq!(fault(copy, map.encode()), FaultKind::BulkCopy(expected));
    }
    let im2col = "mov.u16 %h1, 0; @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
        [tile], [%map, {%x, %x, %y}], [bar], {%h1};";
    let tiled = TensorMap {
        rank: 3,
        sizes: [8, 8, 8, 0, 0],
        strides: [64, 512, 0, 0],
        steps: [1, 1, 1, 0, 0],
        extent: Extent::Tile([8, 1, 1, 0, 0]),
        ..map
    };
    assert_eq!(
        fault(im2col, tiled.encode()),
        FaultKind::BulkCopy(BulkCopyMisuse::OtherMode)
    );
    for (operation, element) in [
        ("add", ElementType::U16),
        ("max", ElementType::F32),
        ("inc", ElementType::S32),
        ("and", ElementType::F16),
    ] {
        let reduction = format!(
            "@%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.{operation}.bulk_group
            [%map, {{%x, %y}}], [tile];"
        );
        let map = TensorMap { element, ..map };
        let expected = FaultKind::BulkCopy(BulkCopyMisuse::NoReduction);
        assert_eq!(fault(&reduction, map.encode()), expected, "{operation}");
    }
    assert!(matches!(
        fault(LOAD, [0; 128]),
        FaultKind::BulkCopy(BulkCopyMisuse::NotTensorMap(_))
    ));
    assert!(matches!(
        fault(&LOAD.replace("[tile]", "[tile+16]"), map.encode()),
        FaultKind::MisalignedAddress { bytes: 128, .. }
    ));
    assert!(matches!(
        fault(&format!("add.u64 %map, %map, 16; {LOAD}"), map.encode()),
        FaultKind::MisalignedAddress { bytes: 64, .. }
    ));
    // The address of the array is null.
    assert!(matches!(
        fault(LOAD, map.encode()),
        FaultKind::IllegalAddress {
            address: 0,
            write: false,
            memory: AddressedMemory::Device,
            ..
        }
    ));
}

#[test]
fn invalid_forms_are_rejected() {
    for (instruction, expected) in cases(
        r"
        cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], [%map, {%x, %y}], [bar], {%h1}; => is not simulated
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%map], [bar]; => has the wrong operands
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%map, {%x, %y}]; => has the wrong operands
        tensormap.replace.tile.rank.shared::cta.b1024.b64 [shared_map], 1; => is not simulated
        tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [shared_map], 1; => has the wrong operands
        tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [shared_map], %x; => takes a literal
        tensormap.replace.tile.rank.b1024.b32 [map], 1; => is read-only
    ",
    ) {
        assert_load_error(&module(instruction), expected);
    }
}
