// Scans over a tile or a coalesced group: for each thread, the sum of the threads before it.

#pragma once

#include "reduce.h"

#if defined(__CUDA__)

namespace cooperative_groups {

// Includes the thread's own value.
template <typename Group, typename T, typename Operation>
WARPBOOK_GROUP_FN T inclusive_scan(const Group &group, T value, Operation operation) {
    const unsigned int rank = (unsigned int)group.thread_rank();
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        const T other = group.shfl_up(value, distance);
        if (rank >= distance) value = operation(other, value);
    }
    return value;
}
template <typename Group, typename T> WARPBOOK_GROUP_FN T inclusive_scan(const Group &group, T value) {
    return inclusive_scan(group, value, plus<T>());
}

// Excludes the thread's own value: the first thread receives 0.
template <typename Group, typename T, typename Operation>
WARPBOOK_GROUP_FN T exclusive_scan(const Group &group, T value, Operation operation) {
    const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T> WARPBOOK_GROUP_FN T exclusive_scan(const Group &group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups

#endif
