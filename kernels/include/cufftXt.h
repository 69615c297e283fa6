// cuFFT's extended functions, for C and C++: plans with 64-bit sizes and types of data, and callbacks, which are not
// supported.

#pragma once
#define _CUFFTXT_H_ // guard that programs test

#include "cufft.h"

typedef enum cufftXtCallbackType_t {
    CUFFT_CB_LD_COMPLEX = 0x0,
    CUFFT_CB_LD_COMPLEX_DOUBLE = 0x1,
    CUFFT_CB_LD_REAL = 0x2,
    CUFFT_CB_LD_REAL_DOUBLE = 0x3,
    CUFFT_CB_ST_COMPLEX = 0x4,
    CUFFT_CB_ST_COMPLEX_DOUBLE = 0x5,
    CUFFT_CB_ST_REAL = 0x6,
    CUFFT_CB_ST_REAL_DOUBLE = 0x7,
    CUFFT_CB_UNDEFINED = 0x8
} cufftXtCallbackType;

typedef cufftComplex (*cufftCallbackLoadC)(void *data, size_t offset, void *info, void *shared);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void *data, size_t offset, void *info, void *shared);
typedef cufftReal (*cufftCallbackLoadR)(void *data, size_t offset, void *info, void *shared);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void *data, size_t offset, void *info, void *shared);
typedef void (*cufftCallbackStoreC)(void *data, size_t offset, cufftComplex element, void *info,
                                    void *shared);
typedef void (*cufftCallbackStoreZ)(void *data, size_t offset, cufftDoubleComplex element, void *info,
                                    void *shared);
typedef void (*cufftCallbackStoreR)(void *data, size_t offset, cufftReal element, void *info,
                                    void *shared);
typedef void (*cufftCallbackStoreD)(void *data, size_t offset, cufftDoubleReal element, void *info,
                                    void *shared);

#if defined(__cplusplus)
extern "C" {
#endif

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int *n, long long int *inembed,
                                long long int istride, long long int idist, cudaDataType input,
                                long long int *onembed, long long int ostride, long long int odist,
                                cudaDataType output, long long int batch, size_t *size,
                                cudaDataType execution);
cufftResult cufftXtExec(cufftHandle plan, void *input, void *output, int direction);
cufftResult cufftXtSetCallback(cufftHandle plan, void **callbacks, cufftXtCallbackType type,
                               void **infos);

#if defined(__cplusplus)
}
#endif
