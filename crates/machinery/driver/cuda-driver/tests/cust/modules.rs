//! Images that load as modules, and images that do not.

use std::ffi::{CStr, c_void};
use std::ptr;

use cust::error::CudaError;
use cust::module::Module;

use super::simulator;
use super::support::INVALID_VALUE;

const INVALID_IMAGE: i32 = 200;
const INVALID_PTX: i32 = 218;

#[test]
fn images_without_ptx_are_rejected() {
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
    for (log, error) in cases {
        assert_eq!(Module::from_ptx(log, &[]).err(), Some(error), "{log}");
    }
    let cubin = Module::from_cubin(b"\x7fELF\x02\x01\x01\0", &[]);
    assert_eq!(cubin.err(), Some(CudaError::InvalidImage), "not a cubin");
    let mut cubin = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xbe\0";
    let machine_code = Module::from_cubin(cubin, &[]);
    assert_eq!(machine_code.err(), Some(CudaError::NotSupported));
    cubin[18] = 62;
    let host_code = Module::from_cubin(cubin, &[]);
    assert_eq!(host_code.err(), Some(CudaError::InvalidImage));
    let missing = Module::from_file("no/such/file.ptx");
    assert_eq!(missing.err(), Some(CudaError::FileNotFound));
    calls! { cuModuleLoadData(&mut ptr::null_mut(), ptr::null()) => INVALID_VALUE; }
}

/// Bytes that are not UTF-8 are rejected, and everything ends at the first NUL.
#[test]
fn arbitrary_images_are_loaded_or_rejected() {
    let _context = simulator();
    const HEAD: &[u8] = b".version 6.4\n.target sm_52\n.address_size 64\n";
    let kernel = b".visible .entry k() { ret; }";
    let cases: [(&[u8], i32, &str); 6] = [
        (b"\0", 0, ""),
        (b"\0\xff\xfe", 0, ""),
        ("// naïve ☃ \u{10ffff}\n".as_bytes(), 0, ""),
        (b"// \xff\n", INVALID_IMAGE, "byte 75 is not UTF-8"),
        (b"\xc3", INVALID_IMAGE, "byte 72 is not UTF-8"),
        (".entry ☃() { ret; }".as_bytes(), INVALID_PTX, "☃"),
    ];
    for (bytes, expected, message) in cases {
        let image = [HEAD, kernel, bytes, b"\0"].concat();
        let mut module = ptr::null_mut();
        let code = code!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
        assert_eq!(code, expected, "{bytes:?}");
        for capacity in 1..200usize {
            let mut log = [b'x'; 200];
            let image = CStr::from_bytes_until_nul(&image).unwrap();
            let (code, filled) = load_with_log(image, &mut log[..capacity]);
            assert_eq!(code, expected, "{bytes:?}");
            // The text is never truncated inside a character.
            let logged = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
            assert!(logged.len() < capacity && filled == written_size(logged));
            assert!(capacity < 199 || logged.contains(message), "{logged}");
        }
    }
}

/// Returns the size of a log that the driver reports: zero for an empty one.
fn written_size(log: &str) -> usize {
    if log.is_empty() { 0 } else { log.len() + 1 }
}

/// Loads a module with `log` as the error log. Returns the code and the number of bytes written.
fn load_with_log(image: &CStr, log: &mut [u8]) -> (i32, usize) {
    // `CU_JIT_ERROR_LOG_BUFFER` and its size.
    let mut options = [5, 6];
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        ptr::without_provenance_mut(log.len()),
    ];
    let mut module = ptr::null_mut();
    let (options, data) = (options.as_mut_ptr(), values.as_mut_ptr());
    let image = image.as_ptr().cast();
    let code = code!(cuModuleLoadDataEx(&mut module, image, 2, options, data));
    (code, values[1].addr())
}

/// The loader's message is written to the caller's buffer, truncated to its size.
#[test]
fn error_log_contains_the_load_error() {
    let _context = simulator();
    let ptx = c".version 6.4\n.target sm_52\n.address_size 64\n.visible .entry k() { blend.f32 %f1, %f2; ret; }";
    for capacity in [200usize, 10, 1] {
        let mut log = vec![b'x'; capacity + 1];
        let (code, filled) = load_with_log(ptx, &mut log[..capacity]);
        assert_eq!(code, INVALID_PTX);
        let message = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
        assert_eq!(filled, written_size(message));
        assert_eq!(log[capacity], b'x');
        if capacity == 200 {
            assert!(
                message.contains("blend") && message.contains("line 4"),
                "{message}"
            );
        } else {
            assert_eq!(message.len(), capacity - 1);
        }
    }
}
