// Barriers, fences, block-wide votes, clocks, and instructions that stop a kernel.

#pragma once

#include "device_fn.h"

// A macro, because clang declares the name as a builtin without a definition.
#define __syncthreads() __nvvm_bar_sync(0)
WARPBOOK_DEVICE_FN int __syncthreads_count(int predicate) {
    return __nvvm_bar0_popc(predicate);
}
WARPBOOK_DEVICE_FN int __syncthreads_and(int predicate) { return __nvvm_bar0_and(predicate); }
WARPBOOK_DEVICE_FN int __syncthreads_or(int predicate) { return __nvvm_bar0_or(predicate); }
WARPBOOK_DEVICE_FN void __syncwarp(unsigned int mask = ~0u) { __nvvm_bar_warp_sync(mask); }
WARPBOOK_DEVICE_FN void __barrier_sync(unsigned int id) { __nvvm_barrier_sync(id); }
WARPBOOK_DEVICE_FN void __barrier_sync_count(unsigned int id, unsigned int count) {
    __nvvm_barrier_sync_cnt(id, count);
}
WARPBOOK_DEVICE_FN void __named_sync(int id, int count) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}

WARPBOOK_DEVICE_FN void __threadfence_block() { __nvvm_membar_cta(); }
WARPBOOK_DEVICE_FN void __threadfence() { __nvvm_membar_gl(); }
WARPBOOK_DEVICE_FN void __threadfence_system() { __nvvm_membar_sys(); }

WARPBOOK_DEVICE_FN long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
// The C library declares another clock() for the host.
WARPBOOK_DEVICE_FN clock_t clock() { return (int)__nvvm_read_ptx_sreg_clock(); }
#if WARPBOOK_HAS_SM(700)
WARPBOOK_DEVICE_FN void __nanosleep(unsigned int ns) {
    asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}
#endif

WARPBOOK_DEVICE_FN void __trap() { asm volatile("trap;"); }
WARPBOOK_DEVICE_FN void __brkpt(int = 0) { asm volatile("brkpt;"); }
WARPBOOK_DEVICE_FN void __exit_thread() { asm volatile("exit;"); }
// A macro, because the instruction takes a compile-time constant.
#define __prof_trigger(n) asm volatile("pmevent %0;" ::"n"(n))
