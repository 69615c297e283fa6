/* What Warpbook's libcuda.so.1 offers in addition to the CUDA driver API and NVML: records of what a process did, and
   running one kernel in a single call.

   Link to libcuda.so.1, or load it at run time. NVIDIA's driver has none of these functions. All of them may be called
   from any thread, before or after cuInit; kernels that the functions below run are run one after the other. Functions
   that return int return a CUresult, 0 on success. */
#ifndef WARPBOOK_H
#define WARPBOOK_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the library, such as "0.1.0". */
const char *warpbook_version(void);

/* Starts to record what this process does: its kernels with their counters and modelled times, findings of the checks
   (CUDA_SIM_CHECK), faults, failed calls. Discards an earlier recording. */
int warpbook_record_start(void);

/* Waits for all submitted work, and returns what was recorded since the start or since the last call, as a JSON object
   in the format of `cuda-run --json` (docs/records/cuda-run.schema.json) without an exit status. Recording continues.
   Returns NULL if nothing is being recorded. Free the text with warpbook_free. */
char *warpbook_record_take(void);

/* Frees a text that warpbook_record_take returned; does nothing if it is NULL. */
void warpbook_free(void *text);

/* The kinds of an argument. */
enum {
    WARPBOOK_VALUE = 0,  /* a value, such as an int or a structure, of the size that the kernel's parameter has */
    WARPBOOK_IN = 1,     /* a buffer that is copied to the device; the kernel gets its address there */
    WARPBOOK_OUT = 2,    /* a buffer that is copied back from the device; the kernel must write all of it */
    WARPBOOK_IN_OUT = 3  /* both */
};

typedef struct warpbook_argument {
    void *data;   /* the value, or the buffer, in host memory */
    size_t size;  /* in bytes */
    int kind;
} warpbook_argument;

/* Runs a kernel of a PTX module, given as a string, on the simulated GPU and waits for it: copies buffers to the device,
   launches, and copies buffers back, which do not change if it fails. `kernel` may be NULL if the module has only one.
   The arguments are those of the kernel's parameters, in order. `message`, if it is not NULL, receives the reason of a
   failure, or an empty string; it is truncated to `message_size` bytes including the final NUL. */
int warpbook_run_ptx(const char *ptx, const char *kernel, const unsigned grid[3], const unsigned block[3],
                     unsigned shared_bytes, const warpbook_argument *arguments, size_t count, char *message,
                     size_t message_size);

/* The function of gpuocelot's library that tinygrad calls: runs the only kernel of a PTX module, and waits for it. Each
   argument is a value of at most 8 bytes in the representation of a pointer. Pointers are host addresses; kernels may
   access all of the memory mapping that contains such an address. The reason of a failure is printed on stderr. Linux
   only. */
int ptx_run(const char *ptx, int count, void *const *arguments, int block_x, int block_y, int block_z, int grid_x,
            int grid_y, int grid_z, int shared_bytes);

#ifdef __cplusplus
}
#endif

#endif
