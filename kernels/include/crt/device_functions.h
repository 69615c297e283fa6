// Part of `device_functions.h`, under the name of the GPUs that it came with.

#pragma once

#include "../device_functions.h"
