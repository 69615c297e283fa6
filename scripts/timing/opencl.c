// Times the kernels of an unmodified OpenCL program: preloaded before the library, this file intercepts its calls.
// Writes each kernel's run time, measured by events, to the file that KERNEL_TIMES names: one line per kernel with
// its launches, seconds and name. Whatever device type the program requests, it gets the available devices.
//
//     gcc -shared -fPIC -o timing.so scripts/timing/opencl.c
//     KERNEL_TIMES=times.txt LD_PRELOAD=./timing.so ./program

#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the library's own function of this name.
#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

enum { KERNELS = 256, NAME = 128 };

static struct kernel
{
    char name[NAME];
    long launches;
    double seconds;
} kernels[KERNELS];

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("KERNEL_TIMES");
    FILE *file = path && kernels[0].launches ? fopen(path, "w") : NULL;
    if (!file)
        return;
    for (int i = 0; i < KERNELS && kernels[i].launches; i++)
        fprintf(file, "%ld %.9f %s\n", kernels[i].launches, kernels[i].seconds, kernels[i].name);
    fclose(file);
}

static void add(cl_kernel kernel, cl_event event)
{
    cl_ulong start, end;
    if (clWaitForEvents(1, &event) != CL_SUCCESS ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
        return;
    char name[NAME] = "";
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    for (int i = 0; i < KERNELS; i++)
    {
        if (kernels[i].launches && strcmp(kernels[i].name, name) != 0)
            continue;
        strcpy(kernels[i].name, name);
        kernels[i].launches++;
        kernels[i].seconds += (end - start) * 1e-9;
        return;
    }
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint count, const cl_event *before,
                              cl_event *after)
{
    cl_event event;
    cl_int error = REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count, before, &event);
    if (error != CL_SUCCESS)
        return error;
    add(kernel, event);
    if (after)
        *after = event;
    else
        clReleaseEvent(event);
    return error;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                                      cl_int *error)
{
    return REAL(clCreateCommandQueue)(context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type kind, cl_uint room, cl_device_id *devices, cl_uint *count)
{
    return REAL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_ALL, room, devices, count);
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type kind,
                                   void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
                                   cl_int *error)
{
    return REAL(clCreateContextFromType)(properties, CL_DEVICE_TYPE_ALL, notify, data, error);
}
