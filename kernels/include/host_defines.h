// The same under an older name.

#pragma once

#include "crt/host_defines.h"
