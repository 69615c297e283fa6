//! Modules: the text of `module.ptx` or a prefix of it, its kernels and variables.

use std::ffi::CString;
use std::ptr::null_mut;

use arbitrary::Arbitrary;
use cuda_driver::functions::*;

use crate::state::{Handle, State, resolve};

/// Kernels that store, loop forever, fault, use shared memory, trap and print.
const MODULE: &str = include_str!("module.ptx");
const KERNELS: [&str; 6] = [
    "store", "endless", "astray", "bounded", "trapping", "missing",
];

#[derive(Arbitrary, Debug)]
pub enum Call {
    Load { prefix: Option<u16>, options: u8 },
    Unload(Handle),
    Function(Handle, u8),
    Variable(Handle, bool),
}

impl Call {
    /// # Safety
    /// The driver must be initialized.
    pub unsafe fn execute(self, state: &mut State) {
        // SAFETY: all out-pointers are to live locals, and names end in NUL. The driver validates handles,
        // which are only numbers.
        unsafe {
            match self {
                Call::Load { prefix, options } => load(state, prefix, options),
                Call::Unload(handle) => {
                    cuModuleUnload(resolve(&state.modules, handle));
                }
                Call::Function(handle, name) => {
                    let name = KERNELS[usize::from(name) % KERNELS.len()];
                    let name = CString::new(name).unwrap_or_default();
                    let mut function = null_mut();
                    let module = resolve(&state.modules, handle);
                    if cuModuleGetFunction(&mut function, module, name.as_ptr()) == 0 {
                        state.functions.push(function);
                    }
                }
                Call::Variable(handle, constant) => {
                    let name = if constant { c"factor" } else { c"table" };
                    let module = resolve(&state.modules, handle);
                    let (mut address, mut size) = (0, 0);
                    if cuModuleGetGlobal_v2(&mut address, &mut size, module, name.as_ptr()) == 0 {
                        state.addresses.push(address);
                    }
                }
            }
        }
    }
}

/// Loads the module, or a prefix of it.
///
/// # Safety
/// The driver must be initialized.
unsafe fn load(state: &mut State, prefix: Option<u16>, options: u8) {
    let end = prefix.map_or(MODULE.len(), |prefix| usize::from(prefix) % MODULE.len());
    let text = CString::new(&MODULE[..end]).unwrap_or_default();
    let mut module = null_mut();
    // The size and the buffer of the error log: the options of a caller that prints errors.
    let mut log = [0u8; 64];
    let mut names = [4, 3];
    let bytes = usize::from(options) % (log.len() + 1);
    let mut values = [
        std::ptr::without_provenance_mut(bytes),
        log.as_mut_ptr().cast(),
    ];
    // SAFETY: the text ends in NUL, and the log has at least `bytes` bytes.
    let result = unsafe {
        cuModuleLoadDataEx(
            &mut module,
            text.as_ptr().cast(),
            u32::from(options) % 3,
            names.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    if result == 0 {
        state.modules.push(module);
    }
}
