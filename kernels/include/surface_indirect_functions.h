// The same under another name.

#pragma once

#include "surface_functions.h"
