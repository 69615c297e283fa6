// Cooperative groups: threads that work, synchronize and exchange values together.

#pragma once
#define _COOPERATIVE_GROUPS_H_ // guard that programs test

#if defined(__CUDA__)

#include "warpbook/groups/cluster.h"
#include "warpbook/groups/grid.h"
#include "warpbook/groups/group.h"
#include "warpbook/groups/tile.h"

namespace cooperative_groups {

template <typename Group> WARPBOOK_GROUP_FN void sync(const Group &group) { group.sync(); }
template <typename Group> WARPBOOK_GROUP_FN unsigned int thread_rank(const Group &group) {
    return (unsigned int)group.thread_rank();
}
template <typename Group> WARPBOOK_GROUP_FN unsigned int group_size(const Group &group) {
    return (unsigned int)group.size();
}
template <typename Group, typename Function, typename... Arguments>
WARPBOOK_GROUP_FN void invoke_one(const Group &group, Function &&function, Arguments &&...arguments) {
    if (group.thread_rank() == 0) function(static_cast<Arguments &&>(arguments)...);
}

} // namespace cooperative_groups

#endif
