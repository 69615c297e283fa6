// Part of `device_functions.h`, under the name of the GPU generation that introduced it.

#pragma once

#include "device_functions.h"
