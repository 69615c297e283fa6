//! Compiles the regions of kernels to machine code with Cranelift.
//!
//! The simulator finds the regions and calls the code (see [`cuda_sim::exec::compiled`]). A region's function loops
//! over the chunks of a warp. For each chunk, the function loads the registers that the region reads from the warp's
//! frame, executes the region with the chunk's lanes in 128-bit vectors, and stores the registers that are read later.
//! Registers that are the same for all lanes of a chunk, or grow by a known step, are scalars ([`classes`]).
//!
//! The results are bit for bit those of the interpreter. `operations` translates each operation on registers, and
//! `memory` translates the memory accesses with their bounds checks.

mod choice;
mod classes;
mod memory;
mod operations;
mod region;

use cranelift_codegen::ir::{AbiParam, Function as ClifFunction, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module as _, default_libcall_names};
use cuda_sim::exec::compiled::{
    self, CompileMode, CompiledRegions, Compiler, Function, RegionFunction,
};
use std::sync::Mutex;

/// Makes this compiler the simulator's, for modules that are loaded from now on. Without the CPU features that compiled
/// code needs, kernels stay interpreted.
pub fn install() {
    if is_supported() {
        compiled::install(&Cranelift);
    }
}

/// Returns true if the CPU has the vector instructions that compiled code uses.
fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// The numbers of lanes that a chunk can have.
const CHUNK_SIZES: [usize; 3] = [32, 16, 8];

struct Cranelift;

impl Compiler for Cranelift {
    fn compile(
        &self,
        function: &Function,
        block: [u32; 3],
        mode: CompileMode,
    ) -> Option<CompiledRegions> {
        if mode == CompileMode::Auto && !choice::is_worthwhile(function, block) {
            return None;
        }
        let mut code = Code::new()?;
        // The chunks from the largest to the smallest, with the classes that registers have for them.
        let classes = CHUNK_SIZES.map(|lanes| (lanes, classes::classify(function, block, lanes)));
        let facts = classes::Facts::of(function);
        let mut compiled = Vec::with_capacity(function.regions.len());
        for region in &function.regions {
            let (lanes, classes) = choice::best_chunk(function, region, &classes);
            compiled.push(code.define(|builder| {
                region::emit(builder, function, region, *lanes, classes, &facts)
            })?);
        }
        let functions = code.finish(&compiled)?;
        Some(CompiledRegions {
            functions,
            owner: Box::new(code),
        })
    }
}

/// The module that owns a kernel's machine code.
struct Code {
    module: Mutex<Option<JITModule>>,
    context: Mutex<FunctionBuilderContext>,
}

impl Code {
    fn new() -> Option<Code> {
        let mut flags = settings::builder();
        let options = [
            ("opt_level", "speed"),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
        ];
        for (name, value) in options {
            flags.set(name, value).ok()?;
        }
        let isa: OwnedTargetIsa = cranelift_native::builder()
            .ok()?
            .finish(settings::Flags::new(flags))
            .ok()?;
        let builder = JITBuilder::with_isa(isa, default_libcall_names());
        Some(Code {
            module: Mutex::new(Some(JITModule::new(builder))),
            context: Mutex::new(FunctionBuilderContext::new()),
        })
    }

    /// Defines a region's function. Returns `Some(None)` if the region cannot be translated, and `None` if the module
    /// cannot be used.
    fn define(
        &mut self,
        emit: impl FnOnce(&mut FunctionBuilder) -> Option<()>,
    ) -> Option<Option<FuncId>> {
        let module = self.module.get_mut().ok()?.as_mut()?;
        let mut signature = Signature::new(module.isa().default_call_conv());
        signature.params.push(AbiParam::new(types::I64));
        signature.returns.push(AbiParam::new(types::I32));
        let mut context = module.make_context();
        context.func =
            ClifFunction::with_name_signature(UserFuncName::default(), signature.clone());
        let mut builder = FunctionBuilder::new(&mut context.func, self.context.get_mut().ok()?);
        if emit(&mut builder).is_none() {
            *self.context.get_mut().ok()? = FunctionBuilderContext::new();
            return Some(None);
        }
        builder.finalize(module.isa().frontend_config());
        let id = module.declare_anonymous_function(&signature).ok()?;
        let result = module.define_function(id, &mut context);
        if let Err(error) = result {
            debug_assert!(false, "{error:?}\n{}", context.func.display());
            return Some(None);
        }
        Some(Some(id))
    }

    /// Makes the code executable. Returns the functions' addresses.
    fn finish(&mut self, ids: &[Option<FuncId>]) -> Option<Vec<Option<RegionFunction>>> {
        let module = self.module.get_mut().ok()?.as_mut()?;
        module.finalize_definitions().ok()?;
        let address = |id: FuncId| {
            let code = module.get_finalized_function(id);
            // SAFETY: the code was compiled with this signature and the host's calling convention.
            unsafe { std::mem::transmute::<*const u8, RegionFunction>(code) }
        };
        Some(ids.iter().map(|id| id.map(address)).collect())
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Ok(module) = self.module.get_mut()
            && let Some(module) = module.take()
        {
            // SAFETY: the kernel's program owns this value, and no launch of it is running any more.
            unsafe { module.free_memory() };
        }
    }
}

/// Returns the C calling convention, which the functions that compiled code calls have.
fn call_convention(builder: &FunctionBuilder) -> CallConv {
    builder.func.signature.call_conv
}
