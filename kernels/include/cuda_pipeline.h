// The pipeline primitives, under the name that most programs include.

#pragma once

#include "cuda_pipeline_primitives.h"
