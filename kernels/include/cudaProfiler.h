// Functions of the driver API that select the part of a program to be profiled: cuda.h declares them.

#pragma once

#include "cuda.h"
