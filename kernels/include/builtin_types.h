// All types of the runtime API.

#pragma once
#define __BUILTIN_TYPES_H__ // guard that programs test

#include "device_types.h"
#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"
