//! Launches as of CUDA 3, whose configuration is stored in the function, and the usage count of contexts.

use super::*;

/// Parameters at the offsets 0, 8, 12 and 16: an address, an integer, a float and a structure of two integers. Each
/// thread stores, at its index in the grid: the integer plus the structure's second member, the float, the
/// threads per block and the bytes of dynamic shared memory.
const STORE: &CStr = c".version 6.4
.target sm_52
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 i, .param .f32 f, .param .align 4 .b8 pair[8]) {
    .reg .b64 %d<4>; .reg .b32 %r<12>; .reg .f32 %f<2>;
    ld.param.u64 %d1, [out];
    ld.param.u32 %r1, [i];
    ld.param.f32 %f1, [f];
    ld.param.u32 %r2, [pair+4];
    add.u32 %r1, %r1, %r2;
    mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mul.lo.u32 %r5, %r3, %r4;
    mov.u32 %r6, %ctaid.y; mov.u32 %r7, %nctaid.x; mov.u32 %r8, %ctaid.x;
    mad.lo.u32 %r6, %r6, %r7, %r8;
    mov.u32 %r9, %dynamic_smem_size;
    mul.wide.u32 %d2, %r6, 16;
    add.u64 %d1, %d1, %d2;
    st.global.v4.u32 [%d1], {%r1, %f1, %r5, %r9};
    ret;
}";

fn records(address: CUdeviceptr, blocks: usize) -> Vec<[u32; 4]> {
    let values = read(address, 4 * blocks);
    let words: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    words
        .chunks_exact(4)
        .map(|record| record.try_into().unwrap())
        .collect()
}

#[test]
fn functions_store_their_launch() {
    let _context = OwnContext::new();
    let function = support::function(support::module(STORE), c"store");
    let out = floats(&[0.0; 24]);
    let (mut address, mut pair) = (out, [3_u32, 4]);
    calls! {
        cuLaunch(function) => INVALID_VALUE, "no block shape";
        cuFuncSetBlockShape(function, 8, 4, 1);
        cuLaunch(function) => INVALID_VALUE, "no parameters";
        cuParamSetv(function, 0, (&raw mut address).cast(), 8);
        cuParamSeti(function, 8, 30);
        cuParamSetf(function, 12, 1.5);
        cuParamSetv(function, 16, pair.as_mut_ptr().cast(), 8);
        cuParamSetSize(function, 20);
        cuLaunch(function) => INVALID_VALUE, "fewer bytes than the parameters";
        cuParamSetSize(function, 24);
        cuLaunch(function);
    }
    let float = 1.5_f32.to_bits();
    assert_eq!(records(out, 2), [[34, float, 32, 0], [0; 4]]);
    // Everything else remains as it was.
    calls! {
        cuFuncSetSharedSize(function, 64);
        cuParamSeti(function, 8, 40);
        cuLaunchGrid(function, 3, 2);
    }
    assert_eq!(records(out, 6), [[44, float, 32, 64]; 6]);
    let stream = support::stream(1);
    calls! {
        cuFuncSetBlockShape(function, 2, 1, 1);
        cuLaunchGridAsync(function, 1, 1, stream);
        cuStreamSynchronize(stream);
    }
    assert_eq!(records(out, 1), [[44, float, 2, 64]]);
}

#[test]
fn impossible_stored_launches_are_rejected() {
    let _context = OwnContext::new();
    let function = support::function(support::module(STORE), c"store");
    let mut value = 0_u64;
    let unknown = std::ptr::without_provenance_mut(7);
    calls! {
        cuFuncSetBlockShape(function, 0, 1, 1) => INVALID_VALUE;
        cuFuncSetBlockShape(function, 1, -1, 1) => INVALID_VALUE;
        cuFuncSetBlockShape(unknown, 1, 1, 1) => INVALID_HANDLE;
        cuParamSeti(function, -4, 0) => INVALID_VALUE;
        cuParamSeti(function, 4093, 0) => INVALID_VALUE;
        cuParamSetv(function, 0, null_mut(), 8) => INVALID_VALUE;
        cuParamSetv(function, i32::MAX, (&raw mut value).cast(), 8) => INVALID_VALUE;
        cuParamSetSize(function, 4097) => INVALID_VALUE;
        cuParamSetSize(function, 24);
        cuFuncSetBlockShape(function, 1, 1, 1);
        cuLaunchGrid(function, 1, 0) => INVALID_VALUE;
        cuLaunchGrid(function, -1, 1) => INVALID_VALUE;
        cuLaunchGridAsync(function, 1, 1, unknown.cast()) => INVALID_HANDLE;
    }
}

#[test]
fn attached_contexts_live_until_the_last_detach() {
    let outer = OwnContext::new();
    let (mut context, mut attached, mut current) = (null_mut(), null_mut(), null_mut());
    calls! {
        cuCtxAttach(&mut attached, 1) => INVALID_VALUE;
        cuCtxCreate_v2(&mut context, 0, 0);
        cuCtxAttach(&mut attached, 0);
        cuCtxDetach(outer.0) => INVALID_CONTEXT, "not current";
    }
    assert_eq!(attached, context);
    calls! {
        cuCtxDetach(attached);
        cuCtxGetCurrent(&mut current);
    }
    assert_eq!(current, context, "still alive");
    calls! {
        cuCtxDetach(context);
        cuCtxGetCurrent(&mut current);
    }
    assert_eq!(current, outer.0);
    calls! {
        cuCtxDetach(context) => INVALID_CONTEXT;
        cuCtxSetCurrent(null_mut());
        cuCtxAttach(&mut attached, 0) => INVALID_CONTEXT, "no current context";
        cuCtxSetCurrent(outer.0);
    }
}

#[test]
fn the_info_log_is_an_empty_text() {
    let _context = OwnContext::new();
    let (mut module, mut log) = (null_mut(), [1_u8; 8]);
    // `CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES` and `CU_JIT_INFO_LOG_BUFFER`.
    let mut options = [4, 3];
    let size = std::ptr::without_provenance_mut(8);
    let mut values = [size, log.as_mut_ptr().cast()];
    let (names, list) = (options.as_mut_ptr(), values.as_mut_ptr());
    calls! { cuModuleLoadDataEx(&mut module, STORE.as_ptr().cast(), 2, names, list); }
    assert_eq!(support::reread(&log), [0, 1, 1, 1, 1, 1, 1, 1]);
    assert!(values[0].is_null());
}
