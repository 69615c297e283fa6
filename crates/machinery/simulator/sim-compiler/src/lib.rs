//! Compiles the regions of kernels to machine code with Cranelift.
//!
//! The simulator finds the regions and calls the code (see [`cuda_sim::exec::compiled`]). A region's function loops
//! over the chunks of a warp. For each chunk, the function loads the registers that the region reads from the warp's
//! frame, executes the region with the chunk's lanes in 128-bit vectors, and stores the registers that are read later.
//! Registers that are the same for all lanes of a chunk, or grow by a known step, are scalars ([`classes`]).
//!
//! The results are bit for bit those of the interpreter. `operations` translates each operation on registers, and
//! `memory` translates the memory accesses with their bounds checks.

mod classes;
mod memory;
mod operations;
mod region;

use classes::Class;
use cranelift_codegen::ir::{AbiParam, Function as ClifFunction, Signature, UserFuncName, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable as _};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module as _, default_libcall_names};
use cuda_sim::exec::compiled::{
    self, CompileMode, CompiledRegions, Compiler, Function, Region, RegionFunction,
};
use cuda_sim::isa::RegisterClass;
use cuda_sim::isa::operation::Operation;
use std::collections::{BTreeMap, BTreeSet};
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
        if mode == CompileMode::Auto && !is_worthwhile(function, block) {
            return None;
        }
        let mut code = Code::new()?;
        // The chunks from the largest to the smallest, with the classes that registers have for them.
        let classes = CHUNK_SIZES.map(|lanes| (lanes, classes::classify(function, block, lanes)));
        let facts = classes::Facts::of(function);
        let mut compiled = Vec::with_capacity(function.regions.len());
        for region in &function.regions {
            let (lanes, classes) = best_chunk(function, region, &classes);
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

/// The assumed number of iterations of a loop.
const ASSUMED_ITERATIONS: f64 = 8.0;

/// The cost of calling a region's function, in instructions of the interpreter.
const CALL_COST: f64 = 6.0;

/// The fraction of an instruction's cost that compiled code saves in a loop.
const SAVED_IN_LOOPS: f64 = 0.6;

/// The fraction that it saves outside loops, where it is entered for a few instructions. A 3x3 stencil without loops took
/// 1.1 times as long compiled as in gangs.
const SAVED_OUTSIDE_LOOPS: f64 = 0.3;

/// The additional cost of an interpreted instruction in a kernel with compiled code, as a fraction of the
/// instruction's cost: the kernel's warps do not form gangs.
const UNGANGED_COST: f64 = 0.3;

/// The minimum number of threads per block for which a partial last warp hardly matters.
const MIN_THREADS: u32 = 128;

/// The minimum fraction of a kernel's cost that compilation must save.
const MIN_SAVED_FRACTION: f64 = 0.1;

/// Returns true if compiled code would make a kernel faster, by an estimate from the nesting of its loops.
fn is_worthwhile(function: &Function, block: [u32; 3]) -> bool {
    // Accesses of a warp with absent lanes take the general path.
    let threads: u32 = block.iter().product();
    if threads < MIN_THREADS && !threads.is_multiple_of(32) {
        return false;
    }
    let mut depths = vec![0; function.blocks.len()];
    for (block, part) in function.blocks.iter().enumerate() {
        for &header in part.successors.iter().filter(|&&header| header <= block) {
            depths[header..=block]
                .iter_mut()
                .for_each(|depth| *depth += 1);
        }
    }
    let weight = |depth: i32| ASSUMED_ITERATIONS.powi(depth.clamp(0, 4));
    let cost = |block: usize, count: usize| weight(depths[block]) * count as f64;
    let blocks = function.blocks.iter().enumerate();
    let total: f64 = blocks
        .map(|(n, block)| cost(n, block.end - block.first))
        .sum();
    let (mut compiled, mut saved, mut calls) = (0.0, 0.0, 0.0);
    for region in &function.regions {
        for (&block, (_, range)) in region.blocks.iter().zip(region.ranges(function)) {
            let cost = cost(block, range.len());
            compiled += cost;
            saved += cost
                * match depths[block] {
                    0 => SAVED_OUTSIDE_LOOPS,
                    _ => SAVED_IN_LOOPS,
                };
        }
        let outside = region
            .blocks
            .iter()
            .map(|&block| depths[block])
            .min()
            .unwrap_or(0);
        let first = region.blocks[0];
        let is_header = region.end.is_none()
            && region
                .blocks
                .iter()
                .any(|&block| function.blocks[block].successors.contains(&first));
        calls += CALL_COST * weight(outside - i32::from(is_header));
    }
    saved - calls - UNGANGED_COST * (total - compiled) > MIN_SAVED_FRACTION * total
}

/// The number of vectors that may be live at once. CPUs with 128-bit vectors have 16 to 32, and operands in memory cost
/// little on x86-64.
const MAX_VECTORS: usize = 20;

/// Returns the largest of the chunks whose live values fit into the vector registers and in which as many registers as
/// possible are uniform or linear; the smallest chunk if there is no such chunk.
fn best_chunk<'c>(
    function: &Function,
    region: &Region,
    chunks: &'c [(usize, Vec<Class>); CHUNK_SIZES.len()],
) -> &'c (usize, Vec<Class>) {
    let scalars = |classes: &[Class]| {
        let registers = registers(function, region);
        let is_scalar = |&register: &u32| classes[register as usize] != Class::Varying;
        registers
            .iter()
            .filter(|register| is_scalar(register))
            .count()
    };
    let most = chunks.iter().map(|(_, classes)| scalars(classes)).max();
    let fits = |(lanes, classes): &&(usize, Vec<Class>)| {
        Some(scalars(classes)) == most
            && live_words(function, region, classes) * lanes / 4 <= MAX_VECTORS
    };
    chunks
        .iter()
        .find(fits)
        .unwrap_or(&chunks[chunks.len() - 1])
}

/// Returns the registers that a region names.
fn registers(function: &Function, region: &Region) -> BTreeSet<u32> {
    let insts = region.instructions(function);
    insts
        .flat_map(|inst| inst.defs.iter().chain(&inst.uses))
        .copied()
        .collect()
}

/// Returns the maximum number of 32-bit values per lane that are live at once in vectors. Registers that several blocks
/// use or define, or that are read after the region, count as live throughout.
fn live_words(function: &Function, region: &Region, classes: &[Class]) -> usize {
    let words = |register: u32| match (
        classes[register as usize],
        function.registers[register as usize].class,
    ) {
        (Class::Uniform | Class::Linear(_), _) => 0,
        (Class::Varying, RegisterClass::Wide) => 2,
        (Class::Varying, _) => 1,
    };
    let ranges: Vec<_> = region.ranges(function).map(|(_, range)| range).collect();
    let mut places: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (n, range) in ranges.iter().enumerate() {
        for inst in &function.instructions[range.clone()] {
            for &register in inst.defs.iter().chain(&inst.uses) {
                places.entry(register).or_default().insert(n);
            }
        }
    }
    let everywhere: BTreeSet<u32> = places
        .into_iter()
        .filter(|(register, places)| places.len() > 1 || region.live_out.contains(register))
        .map(|(register, _)| register)
        .collect();
    let base: usize = everywhere.iter().map(|&register| words(register)).sum();
    let mut most = base;
    for range in ranges {
        let mut live = BTreeSet::new();
        for inst in function.instructions[range].iter().rev() {
            if let Some(Operation::Guard { .. }) = inst.operation {
                continue;
            }
            for def in &inst.defs {
                live.remove(def);
            }
            live.extend(inst.uses.iter().filter(|used| !everywhere.contains(used)));
            let local: usize = live.iter().map(|&register| words(register)).sum();
            most = most.max(base + local);
        }
    }
    most
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
