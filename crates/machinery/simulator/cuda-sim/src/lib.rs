//! A CUDA GPU in software: it executes PTX and reports results, memory traffic and a modelled time.
//!
//! # From PTX to a handler call
//!
//! The simulator is an interpreter that executes one warp instruction for 32 lanes at once. A PTX instruction
//! passes through five forms:
//!
//! 1. **Text.** `@%p1 add.f32 %f3, %f1, %f2;`
//! 2. **Tree.** [`ptx::parse`] turns the text of a module into [`ptx::ast`], which borrows from the text.
//! 3. **Linear IR.** [`lower`] works as a small compiler: it translates each function into instructions with
//!    virtual registers, builds the control-flow graph and its post-dominators, runs data-flow analyses, and
//!    assigns the virtual registers to the rows of a frame.
//! 4. **Decoded instructions.** The result, a [`exec::Program`], contains one flat array of `Inst`
//!    (`exec/sm/program.rs`) for all functions of the module. An `Inst` holds the address of its handler, the byte
//!    offsets of its operands in the frame, and immediate arguments. An index into this array is the address of
//!    an instruction, the simulator's program counter.
//! 5. **Handler call.** A handler is a function `unsafe fn(&mut Sm, &Inst) -> *const Inst`. It executes the
//!    instruction and returns the next one, usually its neighbour in the array. The interpreter's main loop
//!    is `while !pc.is_null() { pc = ((*pc).run)(sm, &*pc) }`; null returns the warp to the scheduler.
//!
//! A warp's registers are in its frame, one *row* per register: 32 values of 32 or 64 bits, one per lane. A
//! predicate is a mask of 32 bits. The handler of `add.f32` is the closure `|a: f32, b: f32| a + b` inlined
//! into a loop over the lanes of three rows (`exec/lanewise`), which the compiler vectorizes. The handler is
//! selected when the module is loaded, by mnemonic, modifiers, types and host CPU, so that execution decodes
//! nothing.
//!
//! Every basic block starts with an `enter` instruction, which has no counterpart in PTX. It adds the
//! block's length to the clock and counts the visit, from which the counts of all instructions in the block
//! follow, and it is the point at which a warp can yield to others.
//!
//! # Warps, blocks and SMs
//!
//! Each host thread runs one SM (`exec/sm`), which takes the blocks of the grid one after the other
//! (`exec/worker.rs`). The warps of a block take turns of a fixed number of warp instructions, and the blocks
//! that are resident at the same time take turns as well, so that a warp or block may wait for another one.
//! Results and counters do not depend on which host thread runs which block.
//!
//! # Divergence and reconvergence
//!
//! The active lanes of a warp execute in lockstep. Control flow that differs between lanes is handled in two
//! ways:
//!
//! * **Predication.** Most guarded instructions (`@%p1`) are preceded by a `guard` instruction, which restricts
//!   the active mask for one handler call; handlers write active lanes only. The lowering branches around the
//!   few guarded instructions that cannot be predicated in this way.
//! * **Divergence.** At a branch whose predicate differs between the active lanes, the warp is divided into
//!   *splits* (`exec/warp`). A split is an active mask and a program counter: an entry of a SIMT stack, or a
//!   warp split in the terms of dynamic warp subdivision.
//!
//! The *reconvergence point* of a branch is its immediate post-dominator, the first block through which all
//! paths from the branch pass. [`lower`] computes it and stores its address in the branch instruction. At a
//! divergent branch, the current split becomes the parent of two new splits and waits at the reconvergence
//! point. When a child enters the block at that address, it arrives (`exec/sm/splits.rs`); when the last
//! child has arrived, the parent continues with all lanes that are still live. Calls work in the same way:
//! the caller's split waits at the next instruction until the splits in the called functions have returned.
//!
//! On a SIMT stack only the top entry can run, so a lane that spins on a lock held by a lane of the same warp
//! deadlocks. Here, every split that is not waiting is in the warp's ready queue and runs in its turn, as
//! with the independent thread scheduling of GPUs since Volta. A split that only polls memory
//! (`exec/schedule`) yields early, and lanes that wait at a reconvergence point are released if the lanes they
//! wait for poll for something that the waiting lanes must do. Lanes that arrive at a `.sync` instruction
//! wait for the other lanes of its member mask.
//!
//! # Gangs
//!
//! Dispatching an instruction costs about as much as executing it for 32 lanes. A *gang* is a group of up to
//! eight warps of a block that are at the same instruction with all their live lanes. One handler call
//! executes the instruction for the whole gang, with a loop over the warps around the loop over the lanes.
//! Values that are uniform over the block, such as kernel parameters and most loop counters, are computed
//! once for the gang. At a divergent branch a gang disbands, and it forms again at the reconvergence point. A
//! kernel whose result could depend on the order of its warps runs without gangs, and so does one block in
//! sixteen, in which a missing barrier can then show. See `exec/gang`.
//!
//! # Copies of the code
//!
//! A program's code exists in several copies with the same instructions at the same addresses. They differ in
//! the handlers, so a warp can continue in another copy at any address, and a launch pays only for what it
//! requests:
//!
//! | copy | handlers |
//! |---|---|
//! | plain | execute the instruction for one warp |
//! | gang | execute the instruction for a gang, or warp by warp where no gang handler exists |
//! | counting | count an access, branch or barrier, then run the plain handler; also exists for gangs |
//! | sanitizing | check an access or synchronization, then run the plain or counting handler |
//! | random schedule | may put the warp to sleep before a memory access, then run the handler below |
//! | compiled | run machine code for a region of instructions, and otherwise the plain handlers |
//!
//! The sanitizing and random-schedule copies are created when a launch first needs them (`exec/instrument`).
//! The copy is chosen for each block when it gets its turn (`exec/turn.rs`): the blocks that are profiled run
//! the counting copy, all others the plain one. The time model needs the counters of a sample of the blocks
//! only.
//!
//! # Compiled code
//!
//! Kernels that take long can be compiled ([`exec::compiled`]): [`lower`] attaches a typed operation to each instruction
//! that a compiler knows, and finds regions in which control flow is uniform over a warp. The compiler is a crate of its
//! own, which a program installs; without one, everything is interpreted.
//!
//! # Layers
//!
//! The modules form layers: each may use those above it in this table, and none below it. The integration test
//! `layers` enforces this order.
//!
//! | modules | contents |
//! |---|---|
//! | [`ptx`], [`device`], `lanes`, [`memory`] | PTX parser; GPU specifications; lane masks; allocations and address spaces |
//! | [`isa`] | static properties of instructions, for everything except execution |
//! | [`profile`], [`check`] | counters; sanitizer |
//! | [`exec`] | executor |
//! | [`lower`], [`model`] | compiler from PTX to programs; time model |
//! | [`launch`] | launches: execution, counters and modelled time |
//! | [`driver`] | CUDA driver API |

// Lane loops index several rows with the same lane number.
#![allow(clippy::needless_range_loop)]

pub mod check;
pub mod device;
pub mod driver;
pub mod exec;
pub mod isa;
mod lanes;
pub mod launch;
pub mod lower;
pub mod memory;
pub mod model;
pub mod profile;
pub mod ptx;
