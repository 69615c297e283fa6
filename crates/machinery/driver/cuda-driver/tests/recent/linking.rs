//! The linker, and fat binaries.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

use cuda_driver::functions::*;
use cust::sys::{CUlinkState, CUmodule};

use super::*;

const INVALID_IMAGE: i32 = 200;
const INVALID_PTX: i32 = 218;

const HEADER: &str = ".version 6.4\n.target sm_52\n.address_size 64\n";

/// A kernel that stores the result of `answer`, with a variable of another module.
const CALLER: &str = ".extern .func (.param .b32 r) answer();
.extern .global .u32 more;
.visible .entry k(.param .u64 out) {
    .reg .b64 %d<3>; .reg .b32 %r<4>;
    ld.param.u64 %d1, [out];
    { .param .b32 r; call (r), answer, (); ld.param.b32 %r1, [r]; }
    ld.global.u32 %r2, [more];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%d1], %r1;
    ret;
}";

const CALLEE: &str = ".visible .global .u32 more = 2;
.visible .func (.param .b32 r) answer() { st.param.b32 [r], 40; ret; }";

/// A link with a buffer for its errors.
struct Link {
    state: CUlinkState,
    log: Box<[u8; 256]>,
    _options: Box<([c_int; 2], [*mut c_void; 2])>,
}

impl Link {
    fn new() -> Self {
        let mut log = Box::new([0; 256]);
        // `CU_JIT_ERROR_LOG_BUFFER` and its size.
        let size = std::ptr::without_provenance_mut(256);
        let mut options = Box::new(([5, 6], [log.as_mut_ptr().cast(), size]));
        let mut state = null_mut();
        // SAFETY: both option arrays have two elements, which outlive the link.
        let code = unsafe {
            cuLinkCreate_v2(
                2,
                options.0.as_mut_ptr(),
                options.1.as_mut_ptr(),
                &mut state,
            )
        };
        assert_eq!(code, 0);
        Self {
            state,
            log,
            _options: options,
        }
    }

    fn add(&self, kind: c_int, name: &CStr, text: &str) -> i32 {
        // SAFETY: the text has the size passed, and no options are passed.
        unsafe {
            cuLinkAddData_v2(
                self.state,
                kind,
                text.as_ptr().cast_mut().cast(),
                text.len(),
                name.as_ptr(),
                0,
                null_mut(),
                null_mut(),
            )
        }
    }

    fn complete(&self) -> Result<&CStr, i32> {
        let (mut linked, mut size) = (null_mut(), 0);
        // SAFETY: `linked` and `size` are writable; `self.state` is an opaque handle that the driver looks
        // up, never dereferences.
        unsafe {
            match cuLinkComplete(self.state, &mut linked, &mut size) {
                0 => {
                    let text = CStr::from_ptr(linked.cast::<c_char>());
                    assert_eq!(text.to_bytes_with_nul().len(), size);
                    Ok(text)
                }
                code => Err(code),
            }
        }
    }

    fn log_text(&self) -> &str {
        CStr::from_bytes_until_nul(&self.log[..])
            .unwrap()
            .to_str()
            .unwrap()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // SAFETY: `self.state` is an opaque handle that the driver looks up, never dereferences.
        unsafe {
            assert_eq!(cuLinkDestroy(self.state), 0);
            assert_eq!(cuLinkDestroy(self.state), INVALID_HANDLE);
        }
    }
}

/// Returns the value that the kernel `k` of a module stores.
fn run_stored(module: CUmodule) -> u32 {
    let mut function = null_mut();
    let mut out = floats(&[0.0]);
    let mut parameters = [(&raw mut out).cast::<c_void>()];
    // SAFETY: the parameter list matches the kernel's signature of one parameter.
    unsafe {
        assert_eq!(cuModuleGetFunction(&mut function, module, c"k".as_ptr()), 0);
        let launched = cuLaunchKernel(
            function,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            null_mut(),
            parameters.as_mut_ptr(),
            null_mut(),
        );
        assert_eq!(launched, 0);
    }
    read(out, 1)[0].to_bits()
}

fn load(image: *const c_void) -> Result<CUmodule, i32> {
    let mut module = null_mut();
    // SAFETY: every caller passes a valid image, and `module` is writable.
    match unsafe { cuModuleLoadData(&mut module, image) } {
        0 => Ok(module),
        code => Err(code),
    }
}

#[test]
fn mutually_dependent_modules_link_and_run() {
    let _context = OwnContext::new();
    let link = Link::new();
    assert_eq!(link.add(1, c"caller", &format!("{HEADER}{CALLER}\0")), 0);
    let file = std::env::temp_dir().join(format!("warpbook-called-{}.ptx", std::process::id()));
    std::fs::write(&file, format!("{HEADER}{CALLEE}")).unwrap();
    let path = CString::new(file.to_str().unwrap()).unwrap();
    let none = null_mut();
    // SAFETY: the path is NUL-terminated, and no options are passed.
    unsafe {
        let add = || cuLinkAddFile_v2(link.state, 1, path.as_ptr(), 0, none, null_mut());
        assert_eq!(add(), 0);
        std::fs::remove_file(file).unwrap();
        assert_eq!(add(), 301);
    }
    let linked = link.complete().unwrap();
    let module = load(linked.as_ptr().cast()).unwrap();
    assert_eq!(run_stored(module), 42);
    assert_eq!(
        link.add(1, c"late", HEADER),
        INVALID_VALUE,
        "it is complete"
    );
}

#[test]
fn link_errors_are_written_to_the_log() {
    let _context = OwnContext::new();
    let link = Link::new();
    assert_eq!(link.add(1, c"wrong", "nonsense"), INVALID_IMAGE);
    assert!(link.log_text().contains("not PTX"), "{}", link.log_text());
    let link = Link::new();
    let wrong = format!("{HEADER}.visible .entry k( {{ ret; }}");
    assert_eq!(link.add(1, c"wrong", &wrong), INVALID_PTX);
    assert!(
        link.log_text().starts_with("wrong: line 4"),
        "{}",
        link.log_text()
    );
    let link = Link::new();
    let nvidia = format!("// Generated by NVIDIA NVVM Compiler\n{HEADER}");
    assert_eq!(link.add(1, c"theirs", &nvidia), INVALID_PTX);
    assert!(link.log_text().contains("NVIDIA"), "{}", link.log_text());
    let link = Link::new();
    for kind in [0, 2, 3, 4, 5] {
        assert_eq!(link.add(kind, c"code", "code"), NOT_SUPPORTED);
    }
    assert_eq!(link.add(6, c"code", "code"), INVALID_VALUE);
    assert_eq!(link.complete(), Err(INVALID_IMAGE), "nothing to link");
    let link = Link::new();
    for name in [c"one", c"two"] {
        assert_eq!(link.add(1, name, &format!("{HEADER}{CALLEE}")), 0);
    }
    assert_eq!(link.complete(), Err(INVALID_IMAGE));
    assert_eq!(link.log_text(), "`more` is defined in both one and two");
}

/// Returns a fat binary with these entries: kind, GPU, true if compressed, content.
fn fat_binary(entries: &[(u16, u32, bool, &[u8])]) -> Vec<u8> {
    let mut all = Vec::new();
    for (kind, gpu, compressed, content) in entries {
        let padded = content.len().next_multiple_of(8);
        all.extend(kind.to_le_bytes());
        all.extend(0x101_u16.to_le_bytes());
        all.extend(64_u32.to_le_bytes());
        all.extend((padded as u64).to_le_bytes());
        all.extend([0; 12]);
        all.extend(gpu.to_le_bytes());
        all.extend([0; 24]);
        all.extend(u64::from(*compressed).to_le_bytes());
        all.extend(*content);
        all.resize(all.len() + padded - content.len(), 0);
    }
    let mut fat_binary = Vec::new();
    fat_binary.extend(0xba55_ed50_u32.to_le_bytes());
    fat_binary.extend([1, 0, 16, 0]);
    fat_binary.extend((all.len() as u64).to_le_bytes());
    fat_binary.extend(all);
    fat_binary
}

fn storing_ptx(value: u32) -> String {
    format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{ .reg .b64 %d; ld.param.u64 %d, [out];
        st.global.u32 [%d], {value}; ret; }}\0"
    )
}

#[test]
fn newest_ptx_of_a_fat_binary_is_loaded() {
    let _context = OwnContext::new();
    let (old, new) = (storing_ptx(1), storing_ptx(2));
    let image = fat_binary(&[
        (2, 90, false, b"machine code"),
        (1, 52, false, old.as_bytes()),
        (1, 80, false, new.as_bytes()),
        (1, 90, true, b"compressed"),
    ]);
    assert_eq!(run_stored(load(image.as_ptr().cast()).unwrap()), 2);
    let mut module = null_mut();
    // The wrapper that a compiler places in a program points to it.
    let parts: [u64; 3] = [0x4662_43b1 | 1 << 32, image.as_ptr() as u64, 0];
    // SAFETY: `wrapper` points to a complete fat binary, and the output is writable.
    let code = unsafe { cuModuleLoadFatBinary(&mut module, parts.as_ptr().cast()) };
    assert_eq!(code, 0);
    assert_eq!(run_stored(module), 2);
}

/// A file that is deleted on drop.
struct TempImage(CString, std::path::PathBuf);

impl TempImage {
    fn new(name: &str, image: &[u8]) -> Self {
        let name = format!("warpbook-{}-{name}.fatbin", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, image).unwrap();
        Self(CString::new(path.to_str().unwrap()).unwrap(), path)
    }

    /// Loads the file as a module and as a library.
    fn load(&self) -> [Result<CUmodule, i32>; 2] {
        let (mut module, mut library, mut of_library) = (null_mut(), null_mut(), null_mut());
        let none = null_mut();
        // SAFETY: the path is NUL-terminated, no options are passed, and the outputs are writable.
        unsafe {
            let code = cuModuleLoad(&mut module, self.0.as_ptr());
            let alone = if code == 0 { Ok(module) } else { Err(code) };
            let path = self.0.as_ptr();
            let code = cuLibraryLoadFromFile(
                &mut library,
                path,
                null_mut(),
                null_mut(),
                0,
                null_mut(),
                none,
                0,
            );
            if code != 0 {
                return [alone, Err(code)];
            }
            assert_eq!(cuLibraryGetModule(&mut of_library, library), 0);
            [alone, Ok(of_library)]
        }
    }
}

impl Drop for TempImage {
    fn drop(&mut self) {
        std::fs::remove_file(&self.1).unwrap();
    }
}

#[test]
fn fat_binaries_are_loaded_from_files() {
    let _context = OwnContext::new();
    let image = fat_binary(&[
        (2, 90, false, b"machine code"),
        (1, 52, false, storing_ptx(1).as_bytes()),
        (1, 80, false, storing_ptx(2).as_bytes()),
    ]);
    for module in TempImage::new("whole", &image).load() {
        assert_eq!(run_stored(module.unwrap()), 2);
    }
    let nvidia = format!("// Generated by NVIDIA NVVM Compiler\n{}", storing_ptx(1));
    let rejected = TempImage::new("theirs", &fat_binary(&[(1, 80, false, nvidia.as_bytes())]));
    assert_eq!(rejected.load(), [Err(INVALID_PTX), Err(INVALID_PTX)]);
}

#[test]
fn fat_binaries_without_uncompressed_ptx_are_rejected() {
    let _context = OwnContext::new();
    for image in [
        fat_binary(&[(2, 90, false, b"machine code")]),
        fat_binary(&[(1, 90, true, b"compressed")]),
        fat_binary(&[]),
    ] {
        assert_eq!(load(image.as_ptr().cast()), Err(NOT_SUPPORTED));
        let file = TempImage::new("without", &image);
        assert_eq!(file.load(), [Err(NOT_SUPPORTED), Err(NOT_SUPPORTED)]);
    }
    // A file shorter than its header states, and one without a header.
    let cut = fat_binary(&[(1, 80, false, storing_ptx(1).as_bytes())]);
    for bytes in [10, cut.len() - 8] {
        let file = TempImage::new("cut", &cut[..bytes]);
        assert_eq!(file.load(), [Err(INVALID_IMAGE), Err(INVALID_IMAGE)]);
    }
    let nowhere: [u64; 3] = [0x4662_43b1 | 1 << 32, 0, 0];
    assert_eq!(load(nowhere.as_ptr().cast()), Err(INVALID_IMAGE));
    assert_eq!(load(c"".as_ptr().cast()), Err(INVALID_IMAGE));
}
