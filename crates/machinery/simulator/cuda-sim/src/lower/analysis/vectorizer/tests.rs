//! Tests of each rule, and comparisons with the code that NVIDIA's assembler generates for the chapters'
//! kernels.

use crate::device::DeviceSpec;
use crate::exec::sm::Program;
use crate::isa::listing::{Site, SiteKind};
use crate::isa::{Access, Memory};
use crate::memory::global::Global;
use crate::ptx::tests::cases;

fn load(text: &str) -> Program {
    let mut global = Global::new(1 << 20);
    crate::lower::load(text, &DeviceSpec::h200(), &mut global).expect("the module loads")
}

/// Returns the offset and the bytes of each counted load through a register, in order.
fn loads(body: &str) -> String {
    let program = load(&format!(
        ".version 6.4\n.target sm_52\n.address_size 64\n\
         .const .align 16 .b8 table[512];\n\
         .global .align 16 .b8 data[512];\n\
         .shared .align 16 .b8 tile[512];\n\
         .extern .shared .align 4 .b8 rest[];\n\
         .extern .shared .align 16 .b8 tiles[];\n\
         .func helper() {{ ret; }}\n\
         .entry kernel(.param .u64 pointer, .param .u32 count) {{\n\
         .local .align 16 .b8 mine[64];\n\
         .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n\
         .reg .f32 %f<8>; .reg .f64 %fd<8>;\n\
         mov.u32 %r1, %tid.x;\n\
         {body}\nret; }}"
    ));
    let written =
        counted(&program).map(|(site, access)| format!("{}:{}", site.offset as i64, access.bytes));
    written.collect::<Vec<_>>().join(" ")
}

/// Returns a program's counted loads.
fn counted(program: &Program) -> impl Iterator<Item = (&Site, Access)> {
    program
        .listing
        .sites
        .iter()
        .filter_map(|site| match site.kind {
            SiteKind::Access(access) if access.kind.is_load() => Some((site, access)),
            _ => None,
        })
}

/// Returns the loads that word loads at these offsets from `%rd1`, set by `base`, become.
fn words(base: &str, space: &str, offsets: &[i32]) -> String {
    let written = offsets
        .iter()
        .map(|offset| format!("ld.{space}.f32 %f1, [%rd1+{offset}];\n"));
    loads(&format!("{base}\n{}", written.collect::<String>()))
}

const TILE: &str = "mov.u64 %rd1, tile;";
const TABLE: &str = "mov.u64 %rd1, table;";

#[test]
fn neighbouring_words_are_merged() {
    assert_eq!(words(TILE, "shared", &[0, 4, 8, 12]), "0:16");
    assert_eq!(words(TILE, "shared", &[40, 32, 44, 36]), "32:16");
    assert_eq!(words(TILE, "shared", &[24, 4, 28, 0]), "24:8 0:8");
    assert_eq!(words(TILE, "shared", &[-16, -12, -8, -4]), "-16:16");
    for (space, array) in [("global", "data"), ("local", "mine")] {
        let base = format!("mov.u64 %rd1, {array};");
        assert_eq!(words(&base, space, &[0, 4, 8, 12]), "0:16", "{space}");
    }
}

#[test]
fn gaps_and_misaligned_groups_are_not_merged() {
    assert_eq!(words(TILE, "shared", &[0, 8, 12]), "0:4 8:8");
    assert_eq!(words(TILE, "shared", &[4, 8]), "4:4 8:4");
    assert_eq!(words(TILE, "shared", &[0, 4, 8]), "0:8 8:4");
    assert_eq!(words(TILE, "shared", &[0, 0]), "0:4 0:4");
}

#[test]
fn ordered_loads_are_not_merged() {
    for space in [
        "volatile.shared",
        "relaxed.cta.shared",
        "acquire.cta.shared",
    ] {
        assert_eq!(words(TILE, space, &[0, 4]), "0:4 4:4", "{space}");
    }
}

#[test]
fn constant_loads_are_merged_up_to_8_bytes() {
    assert_eq!(words(TABLE, "const", &[0, 4, 8, 12]), "0:8 8:8");
}

#[test]
fn doubles_and_vectors_are_merged() {
    let doubles = "ld.shared.f64 %fd1, [%rd1]; ld.shared.f64 %fd2, [%rd1+8];";
    assert_eq!(loads(&format!("{TILE} {doubles}")), "0:16");
    let vectors = "ld.shared.v2.f32 {%f1, %f2}, [%rd1]; ld.shared.v2.f32 {%f3, %f4}, [%rd1+8];";
    assert_eq!(loads(&format!("{TILE} {vectors}")), "0:16");
    let mixed =
        "ld.shared.f64 %fd1, [%rd1]; ld.shared.f32 %f1, [%rd1+8]; ld.shared.f32 %f2, [%rd1+12];";
    assert_eq!(loads(&format!("{TILE} {mixed}")), "0:8 8:8");
    let narrow = "ld.shared.u16 %h1, [%rd1]; ld.shared.u16 %h2, [%rd1+2];";
    assert_eq!(loads(&format!("{TILE} {narrow}")), "0:2 2:2");
    let constants = "ld.const.f64 %fd1, [%rd1]; ld.const.f64 %fd2, [%rd1+8];";
    assert_eq!(loads(&format!("{TABLE} {constants}")), "0:8 8:8");
}

#[test]
fn alignment_follows_from_arithmetic() {
    let at = |steps: &str| {
        let base = format!("mov.u64 %rd2, tile; {steps}");
        words(&base, "shared", &[0, 4, 8, 12])
    };
    for (steps, expected) in cases(
        r"
        mul.wide.u32 %rd3, %r1, 16; add.s64 %rd1, %rd2, %rd3; => 0:16
        mul.wide.u32 %rd3, %r1, 24; add.s64 %rd1, %rd2, %rd3; => 0:8 8:8
        mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd2, %rd3; => 0:4 4:4 8:4 12:4
        shl.b32 %r2, %r1, 4; cvt.u64.u32 %rd3, %r2; add.s64 %rd1, %rd2, %rd3; => 0:16
        shl.b32 %r2, %r1, %r1; cvt.u64.u32 %rd3, %r2; add.s64 %rd1, %rd2, %rd3; => 0:4 4:4 8:4 12:4
        mad.wide.u32 %rd1, %r1, 32, %rd2; => 0:16
        mad.wide.u32 %rd3, %r1, 32, 8; sub.s64 %rd1, %rd2, %rd3; => 0:8 8:8
        shl.b32 %r2, %r1, 2; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd1, %rd3, %rd2; => 0:16
        mul.hi.u32 %r2, %r1, 16; cvt.u64.u32 %rd1, %r2; => 0:4 4:4 8:4 12:4
        add.s64 %rd1, %rd2, 8; => 0:8 8:8
        or.b64 %rd1, %rd2, 4; => 0:4 4:4 8:4 12:4
        cvta.shared.u64 %rd3, tile; cvta.to.shared.u64 %rd1, %rd3; => 0:16
    ",
    ) {
        assert_eq!(at(steps), expected, "{steps}");
    }
    // Nothing is known about parameters, values from memory and memory sized at launch, except that a mask
    // clears bits.
    for (steps, expected) in cases(
        r"
        ld.param.u64 %rd1, [pointer]; => 0:4 4:4 8:4 12:4
        ld.param.u64 %rd3, [pointer]; and.b64 %rd1, %rd3, -16; => 0:16
        ld.param.u64 %rd3, [pointer]; and.b64 %rd1, %rd3, 24; => 0:8 8:8
        mov.u64 %rd1, rest; => 0:4 4:4 8:4 12:4
        mov.u64 %rd1, tiles; => 0:16
        mul.wide.u32 %rd3, %r1, 16; mov.u64 %rd2, tiles; add.s64 %rd1, %rd2, %rd3; => 0:16
    ",
    ) {
        assert_eq!(at(steps), expected, "{steps}");
    }
    // Every definition of the register counts.
    for (steps, expected) in cases(
        r"
        mov.u64 %rd1, tile; @%p1 add.s64 %rd1, %rd1, 16; => 0:16
        mov.u64 %rd1, tile; @%p1 add.s64 %rd1, %rd1, 8; => 0:8 8:8
    ",
    ) {
        assert_eq!(at(steps), expected, "{steps}");
    }
}

#[test]
fn loop_variables_keep_the_alignment_of_their_step() {
    let at = |first: u32, step: u32| {
        loads(&format!(
            "{TABLE} add.s64 %rd1, %rd1, {first};\n\
             again: ld.const.f32 %f1, [%rd1+-8]; ld.const.f32 %f2, [%rd1+-4];\n\
             add.s64 %rd1, %rd1, {step}; setp.lt.u64 %p1, %rd1, 400; @%p1 bra again;"
        ))
    };
    assert_eq!(at(56, 112), "-8:8");
    assert_eq!(at(56, 28), "-8:4 -4:4");
    assert_eq!(at(60, 112), "-8:4 -4:4");
}

#[test]
fn stores_and_barriers_prevent_merging() {
    let around = |base: &str, space: &str, between: &str| {
        loads(&format!(
            "{base} mov.u64 %rd2, data; mov.u64 %rd3, tile;\n\
             ld.{space}.f32 %f1, [%rd1]; {between} ld.{space}.f32 %f2, [%rd1+4];"
        ))
    };
    let data = "mov.u64 %rd1, data;";
    let (one, two) = ("0:8", "0:4 4:4");
    assert_eq!(around(TILE, "shared", ""), one);
    assert_eq!(around(TILE, "shared", "st.shared.f32 [%rd3+64], %f1;"), two);
    assert_eq!(around(TILE, "shared", "st.global.f32 [%rd2], %f1;"), one);
    assert_eq!(around(TILE, "shared", "st.f32 [%rd2], %f1;"), two);
    assert_eq!(around(TILE, "shared", "red.global.add.u32 [%rd2], 1;"), two);
    assert_eq!(around(TILE, "shared", "bar.sync 0;"), two);
    assert_eq!(around(TILE, "shared", "membar.gl;"), two);
    assert_eq!(around(TILE, "shared", "call helper;"), two);
    assert_eq!(around(TILE, "shared", "@%p1 mov.u32 %r2, 1;"), one);
    assert_eq!(around(TILE, "shared", "add.s64 %rd1, %rd1, 16;"), two);
    assert_eq!(around(data, "global", "st.global.f32 [%rd2+64], %f1;"), two);
    let store = "st.global.f32 [%rd2+64], %f1;";
    assert_eq!(around(data, "global.nc", store), one);
    assert_eq!(around(TABLE, "const", "st.global.f32 [%rd2], %f1;"), one);
    assert_eq!(around(TABLE, "const", "bar.sync 0;"), two);
}

#[test]
fn groups_do_not_cross_traces() {
    let around = |between: &str| {
        loads(&format!(
            "{TILE} ld.shared.f32 %f1, [%rd1]; {between} ld.shared.f32 %f2, [%rd1+4];"
        ))
    };
    // A label without branches to it does not end a trace, nor does a jump to a label with no other
    // predecessor.
    assert_eq!(around("here:"), "0:8");
    assert_eq!(around("bra.uni here; here:"), "0:8");
    assert_eq!(around("here: @%p1 bra here;"), "0:4 4:4");
    assert_eq!(around("@%p1 bra here; mov.u32 %r2, 1; here:"), "0:4 4:4");
}

#[test]
fn guarded_and_generic_loads_are_not_merged() {
    let rest = "ld.shared.f32 %f1, [%rd1]; @%p1 ld.shared.f32 %f2, [%rd1+4];";
    assert_eq!(loads(&format!("{TILE} {rest}")), "0:4 4:4");
    let rest = "mov.u64 %rd2, tile; ld.shared.f32 %f1, [%rd1]; ld.shared.f32 %f2, [%rd2+4];";
    assert_eq!(loads(&format!("{TILE} {rest}")), "0:4 4:4");
    let generic = "mov.u64 %rd1, data; ld.f32 %f1, [%rd1]; ld.f32 %f2, [%rd1+4];";
    assert_eq!(loads(generic), "0:4 4:4");
}

/// Returns the numbers of a kernel's loads of one word and of more than one word from a memory.
fn widths(text: &str, kernel: &str, memory: Memory) -> (usize, usize) {
    let program = load(text);
    let functions = &program.functions;
    let number = functions
        .iter()
        .position(|function| function.name == kernel);
    let number = number.expect("the kernel is there");
    let end = functions.get(number + 1).map(|next| next.entry);
    let code = functions[number].entry..end.unwrap_or(program.code.plain.len() as u32);
    let inside = counted(&program)
        .filter(|(site, access)| code.contains(&site.address) && access.memory == memory);
    let (words, wide): (Vec<_>, Vec<_>) = inside.partition(|(_, access)| access.bytes == 4);
    (words.len(), wide.len())
}

/// The expected loads of each kernel in the chapters' PTX are those in the machine code that ptxas 13.0
/// generates for sm_90.
#[test]
fn loads_of_the_chapters_match_ptxas() {
    let tiled = include_str!("../../../../../../../../kernels/ptx/matmul-tiled.ptx");
    assert_eq!(widths(tiled, "mat_mul_tiled_8", Memory::Shared), (8, 2));
    assert_eq!(widths(tiled, "mat_mul_tiled_16", Memory::Shared), (16, 4));
    assert_eq!(widths(tiled, "mat_mul_tiled_32", Memory::Shared), (32, 8));
    assert_eq!(widths(tiled, "mat_mul_tiled_32", Memory::Global), (2, 0));
    let raytrace = include_str!("../../../../../../../../kernels/ptx/raytrace-const.ptx");
    assert_eq!(widths(raytrace, "raytrace_global", Memory::Global), (35, 0));
    for kernel in ["raytrace_constant", "raytrace_unrolled"] {
        assert_eq!(widths(raytrace, kernel, Memory::Constant), (19, 8));
    }
    let stencil = include_str!("../../../../../../../../kernels/ptx/stencil-readonly.ptx");
    assert_eq!(widths(stencil, "stencil_constant", Memory::Global), (3, 0));
    for kernel in ["stencil_constant", "stencil_ldg", "stencil_restrict"] {
        assert_eq!(widths(stencil, kernel, Memory::Shared), (8, 0));
    }
    for kernel in ["stencil_ldg", "stencil_restrict"] {
        assert_eq!(widths(stencil, kernel, Memory::Global), (7, 0));
    }
    let pitched = include_str!("../../../../../../../../kernels/ptx/matmul-pitched.ptx");
    assert_eq!(widths(pitched, "mat_mul_pitched", Memory::Global), (10, 0));
}
