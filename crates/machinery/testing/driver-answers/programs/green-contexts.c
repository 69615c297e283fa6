// Resources of devices and contexts, and green contexts.

#include "answers.h"

static void resources(void) {
    CUdevResource resource, context_resource, part, rest;
    CUdevResourceDesc description = NULL;
    unsigned groups = 1;
    start();
    memset(&resource, 0, sizeof resource);
    memset(&part, 0, sizeof part);
    CALL("of-device", cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("of-device-type", "%d", resource.type);
    VARYING("of-device-processors", "%u", resource.sm.smCount);
    CALL("of-context", cuCtxGetDevResource(context, &context_resource, CU_DEV_RESOURCE_TYPE_SM));
    CALL("of-device-type-0", cuDeviceGetDevResource(device, &rest, CU_DEV_RESOURCE_TYPE_INVALID));
    CALL("of-device-type-99", cuDeviceGetDevResource(device, &rest, 99));
    CALL("of-device-99", cuDeviceGetDevResource(99, &rest, CU_DEV_RESOURCE_TYPE_SM));
    CALL("of-device-null", cuDeviceGetDevResource(device, NULL, CU_DEV_RESOURCE_TYPE_SM));
    CALL("split", cuDevSmResourceSplitByCount(&part, &groups, &resource, &rest, 0, 8));
    VALUE("split-values", "groups %u, processors %u", groups, part.sm.smCount);
    CALL("count-groups", cuDevSmResourceSplitByCount(NULL, &groups, &resource, NULL, 0, 16));
    VARYING("group-count", "%u", groups);
    groups = 1;
    CALL("split-flags-0x80", cuDevSmResourceSplitByCount(&part, &groups, &resource, NULL, 0x80, 8));
    groups = 1;
    CALL("split-100000-processors", cuDevSmResourceSplitByCount(&part, &groups, &resource, NULL, 0, 100000));
    CALL("describe", cuDevResourceGenerateDesc(&description, &resource, 1));
    CALL("describe-null", cuDevResourceGenerateDesc(NULL, &resource, 1));
}

static void green_contexts(void) {
    CUdevResource resource, found, part;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL, other = NULL;
    CUcontext converted = NULL;
    CUstream stream = NULL;
    CUevent event;
    unsigned groups = 1;
    start();
    event = new_event(CU_EVENT_DISABLE_TIMING);
    memset(&found, 0, sizeof found);
    NEED(cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM));
    NEED(cuDevSmResourceSplitByCount(&part, &groups, &resource, NULL, 0, 8));
    NEED(cuDevResourceGenerateDesc(&description, &part, 1));
    CALL("create-flags-0", cuGreenCtxCreate(&other, description, device, 0));
    CALL("create", cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL("resource", cuGreenCtxGetDevResource(green, &found, CU_DEV_RESOURCE_TYPE_SM));
    VALUE("resource-processors", "%u", found.sm.smCount);
    CALL("to-context", cuCtxFromGreenCtx(&converted, green));
    VALUE("to-context-found", "%d", converted != NULL);
    CALL("create-stream", cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    CALL("create-stream-flags-0", cuGreenCtxStreamCreate(&(CUstream){0}, green, 0, 0));
    CALL("synchronize-stream", cuStreamSynchronize(stream));
    CALL("green-context-of-stream", cuStreamGetGreenCtx(stream, &other));
    VALUE("green-context-of-stream-same", "%d", other == green);
    CALL("record", cuGreenCtxRecordEvent(green, event));
    CALL("wait", cuGreenCtxWaitEvent(green, event));
    CALL("create-of-device-99", cuGreenCtxCreate(&other, description, 99, CU_GREEN_CTX_DEFAULT_STREAM));
    CALL("destroy-stream", cuStreamDestroy_v2(stream));
    CALL("destroy", cuGreenCtxDestroy(green));
}

static void ordinary_streams(void) {
    CUgreenCtx green = (CUgreenCtx)1;
    start();
    CALL("green-context-of-stream", cuStreamGetGreenCtx(new_stream(0), &green));
    VALUE("green-context-null", "%d", green == NULL);
    CALL("destroy-null", cuGreenCtxDestroy(NULL));
}

int main(void) {
    RUN(resources);
    RUN(green_contexts);
    RUN(ordinary_streams);
}
