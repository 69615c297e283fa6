// Collective asynchronous copies of a group; its threads continue while a copy runs.

#pragma once

#include "../cooperative_groups.h"

#if defined(__CUDA__)

namespace cooperative_groups {

namespace warpbook {

// Returns true if both addresses and the size are multiples of `unit` bytes.
WARPBOOK_GROUP_FN bool fits(const void *to, const void *from, size_t bytes, size_t unit) {
    return (((size_t)to | (size_t)from | bytes) & (unit - 1)) == 0;
}

// Copies units of type T, of which this thread copies every `threads`-th.
template <typename T>
WARPBOOK_GROUP_FN void copy_by(size_t rank, size_t threads, void *to, const void *from, size_t bytes) {
    for (size_t at = rank; at < bytes / sizeof(T); at += threads) ((T *)to)[at] = ((const T *)from)[at];
}

// Copies from global to shared memory, bypassing the registers if the GPU supports it.
template <typename Group>
WARPBOOK_GROUP_FN void copy(const Group &group, void *to, const void *from, size_t bytes) {
    const size_t rank = group.thread_rank(), threads = group.size();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (__isShared(to) && __isGlobal(from) && fits(to, from, bytes, 4)) {
        if (fits(to, from, bytes, 16)) {
            for (size_t at = rank * 16; at < bytes; at += threads * 16)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"l"(
                                 WARPBOOK_SHARED((char *)to + at)),
                             "l"(WARPBOOK_GLOBAL((const char *)from + at)) : "memory");
        } else {
            for (size_t at = rank * 4; at < bytes; at += threads * 4)
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"l"(
                                 WARPBOOK_SHARED((char *)to + at)),
                             "l"(WARPBOOK_GLOBAL((const char *)from + at)) : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        return;
    }
#endif
    if (fits(to, from, bytes, 16))
        copy_by<int4>(rank, threads, to, from, bytes);
    else if (fits(to, from, bytes, 4))
        copy_by<int>(rank, threads, to, from, bytes);
    else
        copy_by<char>(rank, threads, to, from, bytes);
}

} // namespace warpbook

template <typename Group, typename T>
WARPBOOK_GROUP_FN void memcpy_async(const Group &group, T *to, const T *from, size_t bytes) {
    warpbook::copy(group, to, from, bytes);
}
// Copies between arrays with the given numbers of elements: as many elements as both have.
template <typename Group, typename T>
WARPBOOK_GROUP_FN void memcpy_async(const Group &group, T *to, size_t to_count, const T *from,
                                    size_t from_count) {
    warpbook::copy(group, to, from, (to_count < from_count ? to_count : from_count) * sizeof(T));
}

template <typename Group> WARPBOOK_GROUP_FN void wait(const Group &group) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    group.sync();
}
// Waits until all but the newest `stages` copies have arrived.
template <unsigned int stages, typename Group> WARPBOOK_GROUP_FN void wait_prior(const Group &group) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(stages) : "memory");
#endif
    group.sync();
}

} // namespace cooperative_groups

#endif
