// Forwards to the header that defines these functions.

#pragma once

#include "texture_fetch_functions.h"
