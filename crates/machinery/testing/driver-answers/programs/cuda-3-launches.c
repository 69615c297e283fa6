// Launches and contexts as of CUDA 3, which PyCUDA still uses.

#include "answers.h"
#include "kernels.h"

static void launches(void) {
    CUfunction kernel;
    CUdeviceptr memory;
    start();
    kernel = function("fill");
    memory = allocate(16);
    CALL("block-shape", cuFuncSetBlockShape(kernel, 32, 1, 1));
    CALL("block-shape-2000", cuFuncSetBlockShape(kernel, 2000, 1, 1));
    CALL("block-shape-after-error", cuFuncSetBlockShape(kernel, 32, 1, 1));
    CALL("shared-size", cuFuncSetSharedSize(kernel, 0));
    CALL("parameter-bytes", cuParamSetv(kernel, 0, &memory, 8));
    CALL("parameter-integer", cuParamSeti(kernel, 8, 5));
    CALL("parameter-second-integer", cuParamSeti(kernel, 12, 4));
    CALL("parameter-size", cuParamSetSize(kernel, 16));
    CALL("launch-grid", cuLaunchGrid(kernel, 1, 1));
    CALL("synchronize", cuCtxSynchronize());
    VALUE("value", "%u", word_at(memory + 12));
    CALL("launch", cuLaunch(kernel));
    CALL("launch-grid-0", cuLaunchGrid(kernel, 0, 1));
}

static void contexts(void) {
    CUcontext attached, other;
    CUdeviceptr address;
    start();
    CALL("attach", cuCtxAttach(&attached, 0));
    VALUE("attached-same", "%d", attached == context);
    CALL("attach-flags-1", cuCtxAttach(&other, 1));
    CALL("detach", cuCtxDetach(attached));
    CALL("allocate", cuMemAlloc_v2(&address, 4));
    CALL("detach-last", cuCtxDetach(context));
    CALL("allocate-after-detach", cuMemAlloc_v2(&address, 4));
}

int main(void) {
    RUN(launches);
    RUN(contexts);
}
