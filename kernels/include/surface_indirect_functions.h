// Forwards to the header that defines these functions.

#pragma once

#include "surface_functions.h"
