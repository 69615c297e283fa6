//! Modules: the text in `module.ptx` or its beginning, its kernels and variables.

use std::ffi::CString;
use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::known::{Known, Which, pick};

/// Kernels that store, loop for ever, fault, use shared memory, trap and print.
const MODULE: &str = include_str!("module.ptx");
const KERNELS: [&str; 6] = [
    "store", "endless", "astray", "bounded", "trapping", "missing",
];

#[derive(Arbitrary, Debug)]
pub enum Call {
    Load { cut: Option<u16>, options: u8 },
    Unload(Which),
    Function(Which, u8),
    Variable(Which, bool),
}

impl Call {
    /// # Safety
    /// The driver has been started.
    pub unsafe fn make(self, known: &mut Known) {
        // SAFETY: a handle is a number, which the driver has to make sure of.
        unsafe {
            match self {
                Call::Load { cut, options } => load(known, cut, options),
                Call::Unload(which) => {
                    cuModuleUnload(pick(&known.modules, which));
                }
                Call::Function(which, name) => {
                    let name = KERNELS[usize::from(name) % KERNELS.len()];
                    let name = CString::new(name).unwrap_or_default();
                    let mut function = null_mut();
                    let module = pick(&known.modules, which);
                    if cuModuleGetFunction(&mut function, module, name.as_ptr()) == 0 {
                        known.functions.push(function);
                    }
                }
                Call::Variable(which, constant) => {
                    let name = if constant { c"factor" } else { c"table" };
                    let module = pick(&known.modules, which);
                    let (mut address, mut size) = (0, 0);
                    if cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr()) == 0 {
                        known.addresses.push(address);
                    }
                }
            }
        }
    }
}

/// Loads the module, or its beginning.
///
/// # Safety
/// The driver has been started.
unsafe fn load(known: &mut Known, cut: Option<u16>, options: u8) {
    let end = cut.map_or(MODULE.len(), |cut| usize::from(cut) % MODULE.len());
    let text = CString::new(&MODULE[..end]).unwrap_or_default();
    let mut module = null_mut();
    // The log's size, none, and the log: what a caller asks for who wants to know what was wrong.
    let mut log = [0u8; 64];
    let mut names = [4, 3];
    let bytes = usize::from(options) % (log.len() + 1);
    let mut values = [
        std::ptr::without_provenance_mut(bytes),
        log.as_mut_ptr().cast(),
    ];
    // SAFETY: the text ends in NUL, and the log has as many bytes as is said.
    let code = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            u32::from(options) % 3,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if code == 0 {
        known.modules.push(module);
    }
}
