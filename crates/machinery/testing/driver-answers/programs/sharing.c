// Memory and events shared with other processes and interfaces, and multicast objects, within one process.

#include "answers.h"

static void processes(void) {
    CUipcMemHandle handle;
    CUipcEventHandle event_handle;
    CUdeviceptr memory, managed, address = 0;
    CUevent event, opened;
    void *pinned;
    start();
    memory = allocate(4096);
    NEED(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    NEED(cuMemAllocHost_v2(&pinned, 4096));
    event = new_event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    CALL("memory-handle", cuIpcGetMemHandle(&handle, memory));
    CALL("open-in-same-process", cuIpcOpenMemHandle_v2(&address, handle, 1));
    CALL("memory-handle-inside", cuIpcGetMemHandle(&handle, memory + 256));
    CALL("memory-handle-of-managed", cuIpcGetMemHandle(&handle, managed));
    CALL("memory-handle-of-pinned", cuIpcGetMemHandle(&handle, (CUdeviceptr)pinned));
    CALL("memory-handle-of-null", cuIpcGetMemHandle(&handle, 0));
    CALL("memory-handle-null", cuIpcGetMemHandle(NULL, memory));
    CALL("event-handle", cuIpcGetEventHandle(&event_handle, event));
    CALL("open-event-in-same-process", cuIpcOpenEventHandle(&opened, event_handle));
    CALL("event-handle-of-other-event", cuIpcGetEventHandle(&event_handle, new_event(CU_EVENT_DISABLE_TIMING)));
    CALL("event-handle-of-null", cuIpcGetEventHandle(&event_handle, NULL));
    CALL("close-not-opened", cuIpcCloseMemHandle(memory));
    CALL("close-null", cuIpcCloseMemHandle(0));
}

static void foreign_handles(void) {
    CUipcMemHandle handle;
    CUipcEventHandle event_handle;
    CUdeviceptr address = 0;
    CUevent event;
    start();
    memset(&handle, 0, sizeof handle);
    memset(&event_handle, 0, sizeof event_handle);
    CALL("open-memory-of-zeros", cuIpcOpenMemHandle_v2(&address, handle, 1));
    CALL("open-memory-flags-0", cuIpcOpenMemHandle_v2(&address, handle, 0));
    CALL("open-memory-flags-2", cuIpcOpenMemHandle_v2(&address, handle, 2));
    CALL("open-event-of-zeros", cuIpcOpenEventHandle(&event, event_handle));
}

static void external_memory(void) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore_description;
    CUexternalMemory memory = NULL;
    CUexternalSemaphore semaphore = NULL;
    start();
    memset(&description, 0, sizeof description);
    description.size = 4096;
    for (int type = 0; type <= 3; type++) {
        description.type = type;
        description.handle.fd = -1;
        CALL(label("import-type-%d", type), cuImportExternalMemory(&memory, &description));
    }
    description.type = 1;
    description.size = 0;
    CALL("import-size-0", cuImportExternalMemory(&memory, &description));
    description.size = 4096;
    description.flags = 0x80;
    CALL("import-flags-0x80", cuImportExternalMemory(&memory, &description));
    memset(&semaphore_description, 0, sizeof semaphore_description);
    semaphore_description.type = 1;
    semaphore_description.handle.fd = -1;
    CALL("import-semaphore", cuImportExternalSemaphore(&semaphore, &semaphore_description));
    semaphore_description.type = 99;
    CALL("import-semaphore-type-99", cuImportExternalSemaphore(&semaphore, &semaphore_description));
}

static void shareable_handles(void) {
    CUmemGenericAllocationHandle handle = 0, imported = 0;
    CUmemAllocationProp wanted;
    CUmemPoolProps pool_properties;
    CUmemoryPool pool = NULL, imported_pool = NULL;
    CUmemPoolPtrExportData data;
    CUdeviceptr address = 0;
    int descriptor = -1, pool_descriptor = -1;
    size_t page;
    start();
    memset(&wanted, 0, sizeof wanted);
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    NEED(cuMemGetAllocationGranularity(&page, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (CALL("create-exportable", cuMemCreate(&handle, page, &wanted, 0)) == CUDA_SUCCESS) {
        CALL("export", cuMemExportToShareableHandle(&descriptor, handle, 1, 0));
        VALUE("export-descriptor", "%d", descriptor >= 0);
        CALL("export-flags-1", cuMemExportToShareableHandle(&descriptor, handle, 1, 1));
        CALL("import", cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)descriptor, 1));
    }
    CALL("import-descriptor-negative", cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)-1, 1));
    CALL("import-handle-type-0", cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)-1, 0));
    memset(&pool_properties, 0, sizeof pool_properties);
    pool_properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    pool_properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    pool_properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (CALL("create-exportable-pool", cuMemPoolCreate(&pool, &pool_properties)) == CUDA_SUCCESS) {
        CALL("export-pool", cuMemPoolExportToShareableHandle(&pool_descriptor, pool, 1, 0));
        NEED(cuMemAllocFromPoolAsync(&address, 64, pool, NULL));
        NEED(cuCtxSynchronize());
        CALL("export-pointer", cuMemPoolExportPointer(&data, address));
    }
    CALL("import-pool-descriptor-negative",
         cuMemPoolImportFromShareableHandle(&imported_pool, (void *)(intptr_t)-1, 1, 0));
    CALL("handle-for-range-type-0", cuMemGetHandleForAddressRange(&descriptor, allocate(4096), 4096, 0, 0));
}

static void multicast(void) {
    CUmemGenericAllocationHandle handle = 0;
    CUmulticastObjectProp properties;
    size_t size = 77;
    start();
    memset(&properties, 0, sizeof properties);
    properties.numDevices = 1;
    properties.size = 2 << 20;
    CALL("granularity-9", cuMulticastGetGranularity(&size, &properties, 9));
    CALL("granularity-output-null", cuMulticastGetGranularity(NULL, &properties, 0));
    properties.numDevices = 0;
    CALL("create-for-no-device", cuMulticastCreate(&handle, &properties));
    properties.numDevices = 99;
    CALL("create-for-99-devices", cuMulticastCreate(&handle, &properties));
    properties.numDevices = 2;
    properties.size = 0;
    CALL("create-size-0", cuMulticastCreate(&handle, &properties));
    properties.size = 1;
    CALL("create-size-1", cuMulticastCreate(&handle, &properties));
    CALL("create-properties-null", cuMulticastCreate(&handle, NULL));
    CALL("add-device-to-handle-0", cuMulticastAddDevice(0, 0));
    CALL("unbind-handle-0", cuMulticastUnbind(0, 0, 0, 2 << 20));
}

int main(void) {
    RUN(processes);
    RUN(foreign_handles);
    RUN(external_memory);
    RUN(shareable_handles);
    RUN(multicast);
}
