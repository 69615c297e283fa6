//! Addresses as values: the state space of a generic address, and conversions.

use crate::harness::*;

#[test]
fn isspacep_identifies_the_state_space() {
    let spaces = ["global", "shared", "local", "const", "param"];
    for (index, space) in spaces.iter().enumerate() {
        let test = |(bit, tested)| {
            let mask = 1 << bit;
            format!("isspacep.{tested} %p1, %d2; @%p1 or.b32 %r1, %r1, {mask};\n")
        };
        let tests: String = spaces.iter().enumerate().map(test).collect();
        let name = if *space == "param" { "p" } else { "thing" };
        let variable = format!(".{space} .align 8 .b32 thing[4];");
        let (before, local_declaration) = match *space {
            "param" => (String::new(), String::new()),
            "local" | "shared" => (String::new(), variable),
            _ => (variable, String::new()),
        };
        let ptx = module_of(
            &before,
            &format!(
                "{local_declaration}
                mov.u64 %d1, {name};
                cvta.{space}.u64 %d2, %d1;
                mov.u32 %r1, 0;
                {tests}
                cvta.to.{space}.u64 %d3, %d2;
                setp.ne.u64 %p2, %d3, %d1;
                @%p2 trap;
                st.global.u32 [%mine], %r1;"
            ),
        )
        .replace(".version 7.0", ".version 7.7");
        let actual = words(&ptx, 2).unwrap_or_else(|fault| panic!("{space}: {fault}"));
        // Constants are in device memory, as on a GPU, so both tests are true.
        let expected = 1 << index | u32::from(*space == "const");
        assert_eq!(actual, [expected; 2], "{space}");
    }
}

#[test]
fn offsets_into_variables_and_parameters_are_applied() {
    let ptx = ".version 7.0
.target sm_80
.address_size 64
.const .align 4 .u32 c[4] = {5, 6, 7};
.global .align 8 .u64 g[3] = {c+4, 9, generic(c)};
.visible .entry k(.param .u64 out, .param .align 4 .b8 s[12], .param .u8 tail) {
    .reg .b64 %d<8>; .reg .b32 %r<8>; .reg .b16 %h;
    ld.param.u64 %d1, [out];
    ld.param.u32 %r1, [s+8];
    ld.param.u8 %h, [tail];
    cvt.u32.u16 %r2, %h;
    ld.const.u32 %r3, [c+8];
    mov.u64 %d2, c;
    ld.const.u32 %r4, [%d2+-4+8];
    ld.global.u64 %d3, [g];
    ld.const.u32 %r5, [%d3];
    mov.u64 %d4, g+8;
    ld.global.u32 %r6, [%d4];
    ld.const.v2.u32 {%r7, _}, [c];
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
    st.global.v2.u32 [%d1+16], {%r5, %r6};
    st.global.u32 [%d1+24], %r7;
    ret;
}
";
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(7);
    let mut bytes = vec![0; 12];
    bytes[8..].copy_from_slice(&77u32.to_le_bytes());
    machine.run("k", 1, 3, vec![params![out].remove(0), bytes, vec![200]]);
    assert_eq!(machine.read::<u32>(out, 7), [77, 200, 7, 6, 6, 9, 5]);
}

#[test]
fn shared_variables_of_functions_and_modules_are_disjoint() {
    let ptx = ".version 7.0
.target sm_80
.address_size 64
.shared .align 4 .u32 common;
.func (.param .b32 r) own() {
    .shared .align 4 .u32 tile[2];
    .reg .b32 %r<4>;
    mov.u32 %r1, %tid.x;
    setp_free: st.shared.u32 [tile+4], 30;
    ld.shared.u32 %r2, [tile+4];
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry a(.param .u64 out) {
    .shared .align 4 .u32 tile[2];
    .reg .b64 %d<4>; .reg .b32 %r<4>;
    ld.param.u64 %d1, [out];
    st.shared.u32 [tile+4], 10;
    st.shared.u32 [common], 11;
    { .param .b32 r; call (r), own; ld.param.b32 %r1, [r]; }
    ld.shared.u32 %r2, [tile+4];
    ld.shared.u32 %r3, [common];
    st.global.u32 [%d1], %r1;
    st.global.u32 [%d1+4], %r2;
    st.global.u32 [%d1+8], %r3;
    ret;
}
.visible .entry b(.param .u64 out) {
    .shared .align 4 .u32 tile[2];
    .reg .b64 %d<4>; .reg .b32 %r<4>;
    ld.param.u64 %d1, [out];
    st.shared.u32 [tile+4], 20;
    ld.shared.u32 %r2, [tile+4];
    st.global.u32 [%d1+12], %r2;
    ret;
}
";
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(4);
    machine.run("a", 1, 1, params![out]);
    machine.run("b", 1, 1, params![out]);
    assert_eq!(machine.read::<u32>(out, 4), [30, 10, 11, 20]);
    let shared_bytes_of = |name| {
        let listing = &machine.program.listing;
        let number = listing.kernel(name).expect("no such kernel");
        listing.kernels[number].shared_bytes
    };
    assert_eq!((shared_bytes_of("a"), shared_bytes_of("b")), (20, 8));
}

/// Unoptimized code of clang initializes a list of pointers so: from a global variable with the addresses of
/// variables that a function declares.
#[test]
fn initial_values_contain_addresses_of_shared_variables() {
    let ptx = ".version 7.0
.target sm_80
.address_size 64
.shared .align 4 .u32 common;
.global .align 8 .u64 both[4] = {generic(first), generic(second)+4, second, generic(common)};
.visible .entry other(.param .u64 out) {
    .shared .align 4 .u32 unrelated[64];
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [out];
    st.shared.u32 [unrelated+252], 9;
    ret;
}
.visible .entry k(.param .u64 out) {
    .shared .align 4 .u32 first[2];
    .shared .align 4 .u32 second[2];
    .reg .b64 %d<8>; .reg .b32 %r<8>;
    ld.param.u64 %d1, [out];
    st.shared.u32 [first], 10;
    st.shared.u32 [second+4], 20;
    st.shared.u32 [second], 30;
    st.shared.u32 [common], 40;
    ld.global.u64 %d2, [both];
    ld.u32 %r1, [%d2];
    ld.global.u64 %d3, [both+8];
    ld.u32 %r2, [%d3];
    ld.global.u64 %d4, [both+16];
    ld.shared.u32 %r3, [%d4];
    ld.global.u64 %d5, [both+24];
    ld.u32 %r4, [%d5];
    st.global.v4.u32 [%d1], {%r1, %r2, %r3, %r4};
    ret;
}
";
    let mut machine = Machine::new(ptx);
    let out = machine.out::<u32>(4);
    machine.run("k", 1, 1, params![out]);
    assert_eq!(machine.read::<u32>(out, 4), [10, 20, 30, 40]);
}

/// Memory order and cache qualifiers do not change an access's value.
#[test]
fn order_and_cache_qualifiers_do_not_change_values() {
    let ptx = kernel_of(
        "st.global.u32 [%mine], %t;
        fence.acq_rel.gpu; fence.sc.sys; membar.cta; membar.gl; membar.sys;
        prefetch.global.L2 [%mine]; prefetchu.L1 [%mine];
        nanosleep.u32 20;
        mov.u32 %r9, 0;
        ld.weak.global.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        ld.relaxed.gpu.global.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        ld.acquire.sys.global.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        ld.global.nc.L1::evict_last.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        ld.global.ca.L2::128B.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        ldu.global.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        ld.volatile.u32 %r1, [%mine]; add.u32 %r9, %r9, %r1;
        st.release.gpu.global.u32 [%mine], %r9;
        st.global.cs.u32 [%mine], %r9;",
    );
    assert_words(&ptx, 40, |t| 7 * t);
}

/// A block's shared memory starts at zero, whatever the previous block left there.
#[test]
fn shared_memory_is_zeroed_for_each_block() {
    let ptx = kernel_of(
        ".shared .b32 tile[64];
        mov.u32 %r3, %ctaid.x;
        mov.u64 %d1, tile;
        mad.wide.u32 %d1, %t, 4, %d1;
        ld.shared.u32 %r1, [%d1];
        st.shared.u32 [%d1], 99;
        mad.lo.u32 %r4, %r3, 64, %t;
        mad.wide.u32 %d2, %r4, 4, %out;
        st.global.u32 [%d2], %r1;",
    );
    let mut machine = Machine::new(&ptx);
    machine.use_threads(1);
    let out = machine.out::<u32>(64 * 5);
    machine.run("k", 5, 64, params![out]);
    assert_eq!(machine.read::<u32>(out, 64 * 5), [0; 64 * 5]);
}
