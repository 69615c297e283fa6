// NVTX under the name of version 2.

#pragma once

#include "nvtx3/nvToolsExtCuda.h"
