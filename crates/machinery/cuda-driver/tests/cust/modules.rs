//! Images that load as modules, and those that do not.

use std::ffi::{CStr, c_void};
use std::ptr;

use cust::error::CudaError;
use cust::module::Module;
use cust::sys;

use super::simulator;

#[test]
fn images_that_are_no_ptx_are_refused() {
    let _context = simulator();
    let cases = [
        ("", CudaError::InvalidImage),
        ("hello", CudaError::InvalidImage),
        (".version 6.4 hello", CudaError::InvalidPtx),
        (
            ".version 6.4\n.target sm_52\n.address_size 64\n.const .b8 big[65537];\n",
            CudaError::InvalidPtx,
        ),
    ];
    for (text, error) in cases {
        assert_eq!(Module::from_ptx(text, &[]).err(), Some(error), "{text}");
    }
    let cubin = Module::from_cubin(b"\x7fELF\x02\x01\x01\0", &[]);
    assert_eq!(cubin.err(), Some(CudaError::NotSupported));
    let missing = Module::from_file("no/such/file.ptx");
    assert_eq!(missing.err(), Some(CudaError::FileNotFound));
    // SAFETY: null is refused.
    let null = unsafe { sys::cuModuleLoadData(&mut ptr::null_mut(), ptr::null()) };
    assert_eq!(null, sys::CUresult::CUDA_ERROR_INVALID_VALUE);
}

/// Bytes that are no text are refused, and everything ends at the first NUL.
#[test]
fn images_of_any_bytes_are_read_or_refused() {
    let _context = simulator();
    const HEAD: &[u8] = b".version 6.4\n.target sm_52\n.address_size 64\n";
    let kernel = b".visible .entry k() { ret; }";
    let cases: [(&[u8], sys::CUresult, &str); 6] = [
        (b"\0", sys::CUresult::CUDA_SUCCESS, ""),
        (b"\0\xff\xfe", sys::CUresult::CUDA_SUCCESS, ""),
        (
            "// naïve ☃ \u{10ffff}\n".as_bytes(),
            sys::CUresult::CUDA_SUCCESS,
            "",
        ),
        (
            b"// \xff\n",
            sys::CUresult::CUDA_ERROR_INVALID_IMAGE,
            "byte 75 is not UTF-8",
        ),
        (
            b"\xc3",
            sys::CUresult::CUDA_ERROR_INVALID_IMAGE,
            "byte 72 is not UTF-8",
        ),
        (
            ".entry ☃() { ret; }".as_bytes(),
            sys::CUresult::CUDA_ERROR_INVALID_PTX,
            "☃",
        ),
    ];
    for (bytes, wanted, said) in cases {
        let image = [HEAD, kernel, bytes, b"\0"].concat();
        let mut module = ptr::null_mut();
        // SAFETY: the image ends in NUL.
        let code = unsafe { sys::cuModuleLoadData(&mut module, image.as_ptr().cast()) };
        assert_eq!(code, wanted, "{bytes:?}");
        for room in 1..200usize {
            let mut text = [b'x'; 200];
            let image = CStr::from_bytes_until_nul(&image).unwrap();
            let (code, filled) = load_with_log(image, &mut text[..room]);
            assert_eq!(code, wanted, "{bytes:?}");
            // Nothing is cut in the middle of a letter.
            let message = CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap();
            assert!(message.len() < room && filled == message.len() + 1);
            assert!(room < 199 || message.contains(said), "{message}");
        }
    }
}

/// Loads a module with `log` for the error log; with the code, how many bytes of it were filled.
fn load_with_log(image: &CStr, log: &mut [u8]) -> (sys::CUresult, usize) {
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(log.len()),
    ];
    let mut module = ptr::null_mut();
    // SAFETY: two options with their values, and a buffer of the size given.
    let code = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    (code, values[1].addr())
}

/// The loader's message goes into the caller's buffer, cut to its size.
#[test]
fn the_error_log_says_why_ptx_does_not_load() {
    let _context = simulator();
    let ptx = c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { blend.f32 %f1, %f2; ret; }";
    for room in [200usize, 10, 1] {
        let mut text = vec![b'x'; room + 1];
        let (code, filled) = load_with_log(ptx, &mut text[..room]);
        assert_eq!(code, sys::CUresult::CUDA_ERROR_INVALID_PTX);
        let message = CStr::from_bytes_until_nul(&text).unwrap().to_str().unwrap();
        assert_eq!(filled, message.len() + 1);
        assert_eq!(text[room], b'x');
        if room == 200 {
            assert!(
                message.contains("blend") && message.contains("line 4"),
                "{message}"
            );
        } else {
            assert_eq!(message.len(), room - 1);
        }
    }
}
