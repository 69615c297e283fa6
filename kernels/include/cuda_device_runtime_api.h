// Dynamic parallelism is not implemented: only the host launches kernels.

#pragma once

#include "cuda_runtime_api.h"
