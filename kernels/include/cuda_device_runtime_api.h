// What a kernel could call to launch others. It is not there: kernels are launched by the host.

#pragma once

#include "cuda_runtime_api.h"
