// Tensor maps, which describe arrays to the tensor memory accelerator.

#include "answers.h"

static CUtensorMap map;

// Parameters of a tensor map; each case changes some of a valid one.
static struct {
    CUtensorMapDataType type;
    uint32_t rank;
    CUdeviceptr address;
    uint64_t sizes[5], strides[5];
    uint32_t box[5], steps[5];
    int interleave, swizzle, promotion, fill;
} tensor;

static void valid(void) {
    static const uint64_t sizes[] = {64, 32, 8, 4, 2};
    memset(&tensor, 0, sizeof tensor);
    tensor.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    tensor.rank = 2;
    tensor.address = (CUdeviceptr)1 << 32;
    uint64_t stride = 4;
    for (int i = 0; i < 5; i++) {
        tensor.sizes[i] = sizes[i];
        stride *= sizes[i];
        tensor.strides[i] = stride;
        tensor.box[i] = i < 2 ? 16 : 1;
        tensor.steps[i] = 1;
    }
}

static CUresult encode(void) {
    return cuTensorMapEncodeTiled(&map, tensor.type, tensor.rank, (void *)tensor.address, tensor.sizes, tensor.strides,
                                  tensor.box, tensor.steps, tensor.interleave, tensor.swizzle, tensor.promotion,
                                  tensor.fill);
}

// Encodes a valid map after an assignment to one of its parameters.
#define CHANGED(name, ...)                                                                                             \
    do {                                                                                                               \
        valid();                                                                                                       \
        __VA_ARGS__;                                                                                                   \
        CALL(name, encode());                                                                                          \
    } while (0)

static void shapes(void) {
    start();
    CHANGED("valid", (void)0);
    for (int rank = 0; rank <= 6; rank++) {
        CHANGED(label("rank-%d", rank), tensor.rank = rank);
    }
    for (int type = 0; type <= 16; type++) {
        CHANGED(label("type-%d", type), tensor.type = type);
    }
    CHANGED("address-null", tensor.address = 0);
    CHANGED("address-not-of-16", tensor.address += 8);
    CHANGED("size-0", tensor.sizes[0] = 0);
    CHANGED("size-2^32", tensor.sizes[1] = 1ull << 32);
    CHANGED("size-2^32-plus-1", tensor.sizes[1] = (1ull << 32) + 1);
    CHANGED("stride-0", tensor.strides[0] = 0);
    CHANGED("stride-not-of-16", tensor.strides[0] = 264);
    CHANGED("stride-below-row", tensor.strides[0] = 128);
    CHANGED("stride-2^40", tensor.strides[0] = 1ull << 40);
    CHANGED("stride-below-2^40", tensor.strides[0] = (1ull << 40) - 16);
    CHANGED("box-0", tensor.box[0] = 0);
    CHANGED("box-256", tensor.box[1] = 256);
    CHANGED("box-257", tensor.box[1] = 257);
    CHANGED("box-width-256", tensor.box[0] = 256);
    CHANGED("box-row-of-12-bytes", tensor.box[0] = 3);
    CHANGED("box-larger-than-tensor", tensor.box[1] = 64);
    CHANGED("step-0", tensor.steps[1] = 0);
    CHANGED("step-2", tensor.steps[1] = 2);
    CHANGED("step-8", tensor.steps[1] = 8);
    CHANGED("step-9", tensor.steps[1] = 9);
    CHANGED("step-2-of-first-dimension", tensor.steps[0] = 2);
}

static void layouts(void) {
    start();
    for (int swizzle = 0; swizzle <= 7; swizzle++) {
        CHANGED(label("swizzle-%d", swizzle), tensor.swizzle = swizzle; tensor.box[0] = 8);
    }
    CHANGED("swizzle-128-bytes-row-128", tensor.swizzle = 3; tensor.box[0] = 32);
    CHANGED("swizzle-128-bytes-row-144", tensor.swizzle = 3; tensor.box[0] = 36);
    CHANGED("swizzle-64-bytes-row-128", tensor.swizzle = 2; tensor.box[0] = 32);
    CHANGED("swizzle-32-bytes-row-64", tensor.swizzle = 1; tensor.box[0] = 16);
    for (int interleave = 0; interleave <= 3; interleave++) {
        CHANGED(label("interleave-%d", interleave), tensor.interleave = interleave);
        CHANGED(label("interleave-%d-rank-3", interleave), tensor.interleave = interleave; tensor.rank = 3);
    }
    CHANGED("interleave-32-bytes-swizzle-32-bytes", tensor.interleave = 2; tensor.swizzle = 1; tensor.rank = 3;
            tensor.box[0] = 8);
    CHANGED("interleave-16-bytes-swizzle-32-bytes", tensor.interleave = 1; tensor.swizzle = 1; tensor.rank = 3;
            tensor.box[0] = 4);
    for (int promotion = 0; promotion <= 4; promotion++) {
        CHANGED(label("promotion-%d", promotion), tensor.promotion = promotion);
    }
    for (int fill = 0; fill <= 2; fill++) {
        CHANGED(label("fill-%d", fill), tensor.fill = fill);
    }
    CHANGED("fill-1-of-integers", tensor.fill = 1; tensor.type = CU_TENSOR_MAP_DATA_TYPE_INT32);
}

static void replacement(void) {
    CUtensorMap moved, expected;
    start();
    valid();
    NEED(encode());
    moved = map;
    tensor.address += 4096;
    NEED(encode());
    expected = map;
    CALL("replace", cuTensorMapReplaceAddress(&moved, (void *)tensor.address));
    VALUE("replaced-equals-encoded", "%d", !memcmp(&moved, &expected, sizeof moved));
    CALL("replace-misaligned", cuTensorMapReplaceAddress(&moved, (void *)(tensor.address + 8)));
    CALL("replace-null", cuTensorMapReplaceAddress(&moved, NULL));
}

int main(void) {
    RUN(shapes);
    RUN(layouts);
    RUN(replacement);
}
