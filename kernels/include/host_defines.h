// Forwards to the header's newer name.

#pragma once

#include "crt/host_defines.h"
