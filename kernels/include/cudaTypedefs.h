// The types of the driver's functions are not declared here: CUB includes this header and uses none of them.

#pragma once

#include "cuda.h"
