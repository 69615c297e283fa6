//! Shared helpers of this module's tests: PTX, and a driver to load it into.

use super::*;

/// Test kernels: `store` writes value + thread index at address + 4 × thread index; `bounded` takes at most
/// 64 threads and declares 256 bytes of shared memory; `endless` is an infinite loop.
pub(super) const PTX: &str = "
    .version 6.4
    .target sm_52
    .address_size 64
    .visible .const .align 4 .b8 factor[4];
    .visible .global .align 4 .b8 table[64];
    .shared .align 4 .b8 tile[256];

    .visible .entry store(.param .u64 address, .param .u32 value)
    {
        .reg .b32 %r<4>;
        .reg .b64 %rd<4>;
        ld.param.u64 %rd1, [address];
        ld.param.u32 %r1, [value];
        cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r2, %tid.x;
        mul.wide.u32 %rd3, %r2, 4;
        add.s64 %rd2, %rd2, %rd3;
        add.s32 %r3, %r1, %r2;
        st.global.u32 [%rd2], %r3;
        ret;
    }

    .visible .entry bounded()
    .maxntid 64, 1, 1
    {
        .reg .b32 %r<2>;
        mov.u32 %r1, tile;
        st.shared.u32 [%r1], %r1;
        ret;
    }

    .visible .entry endless()
    {
    again:
        bra again;
    }
";

/// Returns a driver and its retained primary context.
pub(super) fn driver() -> (Driver, ContextId) {
    let mut driver = Driver::new(DeviceSpec::h200(), None);
    let context = driver.retain_primary(0).unwrap();
    (driver, context)
}

#[test]
fn host_memory_is_plausible() {
    assert!(host_memory() > 64 << 20);
}
