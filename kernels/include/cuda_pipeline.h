// The pipeline primitives, under the name that programs include most.

#pragma once

#include "cuda_pipeline_primitives.h"
