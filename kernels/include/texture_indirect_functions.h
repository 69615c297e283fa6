// The same under another name.

#pragma once

#include "texture_fetch_functions.h"
