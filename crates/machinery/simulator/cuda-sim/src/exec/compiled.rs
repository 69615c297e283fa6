//! Compiled code: the interpreter calls machine code for regions of a function.
//!
//! A *region* is a part of a function with one entry and one exit in which control flow is uniform over a warp: a run
//! of instructions in a basic block, or several blocks with their loops. A compiler, which is a separate crate and
//! installed with [`install`], translates a region to a function that executes the region for one warp. In a copy of
//! the program's code, the region's first instruction is replaced with a call of this function ([`run_region`]), and
//! the interpreter continues at the exit. The interpreter still executes divergent code, barriers and everything that
//! waits, reports faults, and runs the blocks that are profiled or checked.
//!
//! The function executes the region for a *chunk* of 8, 16 or 32 lanes at a time, depending on the number of values
//! that are live at once. Chunks must not be able to observe each other: a region does not both load from a memory and
//! store to it, and contains no ordered access and no loop that may wait for other threads. A chunk can therefore be
//! repeated: if an access is invalid, or an assumption does not hold, the function returns, and the interpreter
//! executes the region for the remaining lanes.
//!
//! By default, a kernel is compiled for the dimensions of its blocks, on a helper thread, once it has executed enough
//! instructions; blocks that start later run the compiled code.

use super::memory::access::translate;
use super::memory::state_space::{
    ConstantSpace, GenericSpace, GlobalSpace, LocalSpace, SharedSpace, SpaceAccess,
};
use super::ops::functions;
use super::ops::rounding::canonical;
pub use super::sm::compilation::{
    ABANDONED, Block, CompileMode, CompiledRegions, Compiler, Context, Function, Instruction,
    Region, RegionFunction, RegisterRow, install, is_installed,
};
use super::sm::{Compilation, Inst, Launch, Next, Program, Sm};
use crate::check::Checks;
use crate::isa::Memory;
use crate::isa::operation::{Operation, SpecialFunction};
use crate::lanes::{FULL, LANES, active};
use crate::memory::region::Region as Allocation;
use crate::profile::Visit;
use std::mem::{offset_of, size_of};
use std::sync::Arc;

/// Returns the compilation of a launch's kernel; `None` if all its blocks are interpreted. Compiles it if it is to run
/// compiled from the first block on.
pub fn of_launch(launch: &Launch) -> Option<Arc<Compilation>> {
    let options = launch.options;
    let is_observed = options.checks != Checks::NONE
        || options.conditions.shuffle.is_some()
        || options.tracing.is_some();
    if options.compile == CompileMode::Never || is_observed {
        return None;
    }
    let function = launch.program.listing.kernels[launch.kernel].function;
    let block = launch.spec.block;
    let compilation = launch.program.compilation(function, block)?;
    if options.compile == CompileMode::Always {
        compile(
            &compilation,
            launch.program,
            function,
            block,
            options.compile,
        );
    }
    Some(compilation)
}

/// Compiles a function of a program on this thread, unless another thread has.
fn compile(
    compilation: &Compilation,
    program: &Program,
    function: usize,
    block: [u32; 3],
    mode: CompileMode,
) {
    compilation.set_code(|compiler| {
        let typed = &program.compilable[function];
        let compiled = compiler.compile(typed, block, mode)?;
        let mut code = program.code.plain.clone();
        for (region, function) in typed.regions.iter().zip(&compiled.functions) {
            if let Some(function) = function {
                let inst = &mut code[region.address as usize];
                inst.run = run_region;
                inst.arg0 = region.address;
                inst.arg1 = region.exit;
                inst.imm = *function as usize as u64;
            }
        }
        Some((code, compiled.owner))
    });
}

/// Compiles a function on a helper thread. If the thread cannot be created, the function stays interpreted.
pub fn compile_later(
    compilation: &Arc<Compilation>,
    program: &Arc<Program>,
    function: usize,
    block: [u32; 3],
) {
    let (compilation, program) = (compilation.clone(), program.clone());
    let work = move || compile(&compilation, &program, function, block, CompileMode::Auto);
    let _ = std::thread::Builder::new()
        .name("kernel-compiler".to_owned())
        .spawn(work);
}

/// The offsets of the fields outside [`Context`] that compiled code accesses.
pub mod offsets {
    use super::{Allocation, Visit, offset_of, size_of};
    use crate::memory::footprint::FootprintHandle;

    pub const REGION_BASE: usize = offset_of!(Allocation, base);
    pub const REGION_SIZE: usize = offset_of!(Allocation, bytes);
    pub const REGION_HOST: usize = offset_of!(Allocation, host);
    /// The words of the footprints of reads and writes.
    pub const REGION_READS: usize = offset_of!(Allocation, reads) + FootprintHandle::WORDS;
    pub const REGION_WRITES: usize = offset_of!(Allocation, writes) + FootprintHandle::WORDS;
    pub const VISIT_BYTES: usize = size_of::<Visit>();
    pub const VISIT_WARPS: usize = offset_of!(Visit, warps);
    pub const VISIT_THREADS: usize = offset_of!(Visit, threads);
    /// The number of sectors per line of a footprint.
    pub use crate::memory::footprint::SECTORS;
}

/// The functions that compiled code calls.
#[derive(Clone, Copy)]
pub struct Helpers {
    /// Loads or stores the elements of a chunk: see [`transfer`].
    pub transfer:
        unsafe extern "C" fn(*mut Context, *mut TransferRequest, u64, u32, u32, u64) -> u32,
    /// Returns the allocation that contains an address of device memory: see [`find`].
    pub find: unsafe extern "C" fn(*mut Context, u64, u32) -> *const Allocation,
    /// Marks bytes of device memory as read or written.
    pub touch: unsafe extern "C" fn(*mut Context, u64, u32, u32),
    /// Returns 1 if the launch is to end early.
    pub poll: unsafe extern "C" fn(*mut Context) -> u32,
}

/// Returns the functions that compiled code calls.
pub fn helpers() -> Helpers {
    Helpers {
        transfer,
        find,
        touch,
        poll,
    }
}

impl Helpers {
    /// Returns the function that computes a special function of one lane.
    pub fn function(function: SpecialFunction) -> extern "C" fn(f32) -> f32 {
        macro_rules! of_lane {
            ($f:path) => {{
                extern "C" fn of_lane(a: f32) -> f32 {
                    canonical($f(a))
                }
                of_lane
            }};
        }
        match function {
            SpecialFunction::Sine => of_lane!(functions::sine),
            SpecialFunction::Cosine => of_lane!(functions::cosine),
            SpecialFunction::PowerOfTwo => of_lane!(functions::power_of_two),
            SpecialFunction::Logarithm => of_lane!(functions::logarithm),
            SpecialFunction::HyperbolicTangent => of_lane!(functions::hyperbolic_tangent),
        }
    }
}

/// The operands of a load or store of a chunk that has no fast path, or whose fast path does not apply.
#[repr(C)]
pub struct TransferRequest {
    /// The addresses of the lanes, if they do not follow from the first.
    pub addresses: [u64; LANES],
    /// The elements: for each element of the transfer a row with one value per lane, of 32 bits or, for elements of 8
    /// bytes, of 64.
    pub values: [[u64; LANES]; 4],
}

/// The description of a load or store, which fits into a word.
#[derive(Clone, Copy)]
pub struct TransferDescription {
    pub memory: Memory,
    /// Bytes per element.
    pub bytes: u32,
    /// Number of elements.
    pub count: u32,
    /// True if loaded elements are sign-extended.
    pub signed: bool,
    pub write: bool,
    /// The distance between the addresses of two lanes; `None` if the request has the addresses.
    pub step: Option<i32>,
}

/// The memories, by their number in a [`TransferDescription`].
const MEMORIES: [Memory; 5] = [
    Memory::Global,
    Memory::Constant,
    Memory::Shared,
    Memory::Local,
    Memory::Generic,
];

impl TransferDescription {
    pub fn code(self) -> u64 {
        let number = MEMORIES.iter().position(|&memory| memory == self.memory);
        let step = self.step.unwrap_or(0) as u32;
        number.unwrap_or(0) as u64
            | u64::from(self.bytes) << 4
            | u64::from(self.count) << 8
            | u64::from(self.signed) << 12
            | u64::from(self.write) << 13
            | u64::from(self.step.is_some()) << 14
            | u64::from(step) << 32
    }

    fn from_code(code: u64) -> TransferDescription {
        let flag = |at: u32| code >> at & 1 == 1;
        TransferDescription {
            memory: MEMORIES[(code & 15) as usize % MEMORIES.len()],
            bytes: (code >> 4 & 15) as u32,
            count: (code >> 8 & 15) as u32,
            signed: flag(12),
            write: flag(13),
            step: flag(14).then_some((code >> 32) as u32 as i32),
        }
    }
}

/// Loads or stores the elements of the lanes in `mask`, for a chunk that starts at lane `first`. If the description has
/// a step, the addresses are computed from `address`, that of the chunk's first lane; otherwise the request contains
/// them. Returns 0 if an access is invalid; the lanes before it may have been transferred.
unsafe extern "C" fn transfer(
    context: *mut Context,
    request: *mut TransferRequest,
    address: u64,
    mask: u32,
    first: u32,
    description: u64,
) -> u32 {
    // SAFETY: compiled code passes the context that `run_region` made, which has the running SM, and a request on its
    // stack, whose values it reads afterwards.
    let (sm, request) = unsafe { (&mut *(*context).sm, &mut *request) };
    let description = TransferDescription::from_code(description);
    if let Some(step) = description.step {
        for lane in active(mask) {
            let distance = i64::from(step).wrapping_mul(lane as i64);
            request.addresses[lane] = address.wrapping_add_signed(distance);
        }
    }
    let lanes = (mask, first as usize);
    let done = match description.memory {
        Memory::Global => transfer_in::<GlobalSpace>(sm, request, lanes, description),
        Memory::Constant => transfer_in::<ConstantSpace>(sm, request, lanes, description),
        Memory::Shared => transfer_in::<SharedSpace>(sm, request, lanes, description),
        Memory::Local => transfer_in::<LocalSpace>(sm, request, lanes, description),
        Memory::Generic => transfer_in::<GenericSpace>(sm, request, lanes, description),
    };
    u32::from(done)
}

fn transfer_in<S: SpaceAccess>(
    sm: &mut Sm,
    request: &mut TransferRequest,
    (mask, first): (u32, usize),
    description: TransferDescription,
) -> bool {
    let TransferDescription {
        count,
        signed,
        write,
        ..
    } = description;
    let bytes = description.bytes as usize;
    let size = u64::from(description.bytes * count);
    for lane in active(mask) {
        let address = request.addresses[lane];
        let Ok(host) = translate::<S>(sm, first + lane, address, size, size, write) else {
            return false;
        };
        for element in 0..count as usize {
            let host = host.wrapping_add(element * bytes);
            let row = request.values[element].as_mut_ptr();
            // SAFETY: `translate` has checked `size` bytes, which are those of all elements; a row has room for the values
            // of all lanes.
            unsafe {
                let (word, double) = (row.cast::<u32>().add(lane), row.add(lane));
                match (write, bytes, signed) {
                    (false, 1, false) => *word = u32::from(host.read()),
                    (false, 1, true) => *word = i32::from(host.cast::<i8>().read()) as u32,
                    (false, 2, false) => *word = u32::from(host.cast::<u16>().read_unaligned()),
                    (false, 2, true) => {
                        *word = i32::from(host.cast::<i16>().read_unaligned()) as u32;
                    }
                    (false, 4, _) => *word = host.cast::<u32>().read_unaligned(),
                    (false, _, _) => *double = host.cast::<u64>().read_unaligned(),
                    (true, 1, _) => host.write(*word as u8),
                    (true, 2, _) => host.cast::<u16>().write_unaligned(*word as u16),
                    (true, 4, _) => host.cast::<u32>().write_unaligned(*word),
                    (true, _, _) => host.cast::<u64>().write_unaligned(*double),
                }
            }
        }
    }
    true
}

/// The minimum alignment, in bytes, of an allocation that compiled code accesses directly: the size of a lane's largest
/// access.
const MIN_ALIGNMENT: u64 = 16;

/// Returns the allocation that contains an address, from the cache of recent allocations, to which it is added if
/// necessary. Returns null if no allocation contains the address, if the access is a write and kernels may not write
/// there, or if the allocation is aligned to less than [`MIN_ALIGNMENT`].
unsafe extern "C" fn find(context: *mut Context, address: u64, write: u32) -> *const Allocation {
    // SAFETY: compiled code passes the context that `run_region` made.
    let sm = unsafe { &mut *(*context).sm };
    let is_writable = write == 0 || GlobalSpace::writable(sm, address);
    if !is_writable || GlobalSpace::host(sm, 0, address, 1).is_null() {
        return std::ptr::null();
    }
    let region = &sm.memory.recent[Sm::recent_slot(address)];
    match region.base.is_multiple_of(MIN_ALIGNMENT) {
        true => region,
        false => std::ptr::null(),
    }
}

/// Marks bytes of device memory, which an allocation must contain, as read or written.
unsafe extern "C" fn touch(context: *mut Context, address: u64, bytes: u32, write: u32) {
    // SAFETY: compiled code passes the context that `run_region` made, and bytes that are inside an allocation.
    unsafe {
        let sm = &mut *(*context).sm;
        if !GlobalSpace::host(sm, 0, address, bytes.into()).is_null() {
            GlobalSpace::touch(sm, address, address, bytes.into(), write == 1);
        }
    }
}

/// Returns 1, with the fault set, if the launch is to end early.
unsafe extern "C" fn poll(context: *mut Context) -> u32 {
    // SAFETY: compiled code passes the context that `run_region` made.
    let sm = unsafe { &mut *(*context).sm };
    u32::from(sm.poll())
}

/// Prepares the context for the block that an SM runs from now on.
pub fn start_block(sm: &mut Sm) {
    let dims = &sm.grid.dims;
    let [block, threads, blocks] = [sm.block.id, dims.block, dims.grid];
    sm.context = Context {
        parameters: sm.grid.params.as_ptr(),
        constants: sm.memory.constants.host,
        constants_base: sm.memory.constants.base,
        constants_bytes: sm.memory.constants.bytes,
        shared: sm.block.shared.as_mut_ptr().cast(),
        shared_bytes: sm.block.shared_bytes.into(),
        visits: sm.counts.visits.as_mut_ptr(),
        clock: &raw mut sm.clock,
        loads: &raw mut sm.counts.global_loads,
        stores: &raw mut sm.counts.global_stores,
        reads: &raw mut sm.counts.reads,
        epoch: sm.memory.epoch,
        block: [
            block[0], block[1], block[2], threads[0], threads[1], threads[2], blocks[0], blocks[1],
            blocks[2],
        ],
        ..Context::EMPTY
    };
}

/// Runs a compiled region for the active lanes. The immediate is its function, `arg0` the address of its first
/// instruction and `arg1` that of the instruction at which it ends.
///
/// # Safety
/// The requirements of [`crate::exec::sm::Handler`]; `imm` must be a [`RegionFunction`] that was compiled for this
/// region of the program and for blocks of these dimensions.
pub unsafe fn run_region(sm: &mut Sm, inst: &Inst) -> Next {
    // SAFETY: `imm` is a function of this type, by the caller's guarantee.
    let function: RegionFunction = unsafe { std::mem::transmute(inst.imm as usize) };
    let rows = &sm.threads.rows[sm.block.running];
    let thread = [rows[0].as_ptr(), rows[1].as_ptr(), rows[2].as_ptr()];
    let sm_pointer: *mut Sm = sm;
    let context = &mut sm.context;
    context.sm = sm_pointer;
    context.thread = thread;
    (context.frame, context.mask) = (sm.frame, sm.mask);
    let context: *mut Context = context;
    // SAFETY: the function was compiled for this region; the context describes the running warp, whose frame has the
    // rows that the region accesses.
    match unsafe { function(context) } {
        0 => sm.at(inst.arg1),
        ABANDONED => std::ptr::null(),
        // SAFETY: `inst` is the region's first instruction.
        lane => unsafe { finish_interpreted(sm, inst, lane - 1) },
    }
}

/// Interprets a region for the active lanes from `lane` on, which compiled code has not completed.
///
/// # Safety
/// `inst` must be the first instruction of a region.
#[cold]
unsafe fn finish_interpreted(sm: &mut Sm, inst: &Inst, lane: u32) -> Next {
    let all = sm.mask;
    let rest = all & FULL << lane;
    let done = u64::from((all & !rest).count_ones());
    let program = sm.grid.program.clone();
    let plain = program.code.plain.as_ptr();
    let code = std::mem::replace(&mut sm.code, plain);
    let deadline = std::mem::replace(&mut sm.deadline, u64::MAX);
    let visits = sm.counts.visits.clone();
    sm.set_active_lanes(rest);
    let end = sm.at(inst.arg1);
    let mut next = sm.at(inst.arg0);
    while next != end && !next.is_null() {
        // SAFETY: `next` points into the program's code, and the instruction was lowered for the running frame.
        unsafe {
            let inst = &*next;
            next = (inst.run)(sm, inst);
        }
        if sm.is_timed_out() {
            next = std::ptr::null();
        }
    }
    sm.code = code;
    sm.deadline = deadline;
    if next.is_null() {
        return next;
    }
    // The lanes that compiled code has completed took the same path.
    for (visit, before) in sm.counts.visits.iter_mut().zip(&visits) {
        visit.threads += (visit.warps - before.warps) * done;
    }
    let function = &program.compilable[sm.grid.function()];
    let mut regions = function.regions.iter();
    if let Some(region) = regions.find(|region| region.address == inst.arg0) {
        let [loads, stores] = device_accesses(function, region, |block| {
            sm.counts.visits[block].warps - visits[block].warps
        });
        sm.counts.global_loads += loads * done + sm.context.guarded[0];
        sm.counts.global_stores += stores * done + sm.context.guarded[1];
    }
    sm.set_active_lanes(all);
    sm.at(inst.arg1)
}

/// Returns the loads from and stores to device memory that a thread has executed in a region, without those of guarded
/// instructions. `visits` returns the number of entries into a block, by its program-wide number, without the entry into
/// the region.
fn device_accesses(
    function: &Function,
    region: &Region,
    visits: impl Fn(usize) -> u64,
) -> [u64; 2] {
    let mut accesses = [0; 2];
    for (n, (block, range)) in region.ranges(function).enumerate() {
        let entries = visits(block.number as usize) + u64::from(n == 0);
        let insts = function.instructions[range].iter();
        for inst in insts.filter(|inst| !inst.predicated) {
            if let Some((transfer, write)) = inst.operation.and_then(Operation::transfer)
                && transfer.is_of_device()
            {
                accesses[usize::from(write)] += entries;
            }
        }
    }
    accesses
}
