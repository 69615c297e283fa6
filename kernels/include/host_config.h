// Included by programs that were written for an older toolkit.

#pragma once

#include "crt/host_defines.h"
