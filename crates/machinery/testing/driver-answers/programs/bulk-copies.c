// Bulk asynchronous copies and tensor copies of kernels for compute capability 9.0: the data that they leave in shared
// and in device memory, and faults of invalid copies.

#include "answers.h"

// Bytes of a block's tile in shared memory, and of its results: the tile, and 16 bytes of which the first word is 1 if
// the copies completed.
#define TILE 4096
#define RESULT 4112
#define STRING_OF(number) #number
#define STRING(number) STRING_OF(number)

// A kernel of 32 threads. It fills its tile with 0xee, runs `BODY`, waits until the barrier has got the expected bytes,
// and stores the tile. `%p1` is true in the first thread. The wait is bounded, so that no case hangs.
#define HEADER(target) ".version 8.3\n.target " target "\n.address_size 64\n"
#define BEGIN                                                                                                          \
    ".visible .const .align 64 .b8 constant_map[128];\n"                                                               \
    ".visible .global .align 128 .b8 global_map[128];\n"                                                               \
    ".visible .entry kernel(.param .align 64 .b8 map[128], .param .u64 array, .param .u64 result,\n"                   \
    "                       .param .u32 bytes, .param .u32 x, .param .u32 y)\n"                                        \
    "{\n"                                                                                                              \
    "    .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<24>; .reg .b32 %n, %x, %y, %rank; .reg .b64 %d<12>;\n"        \
    "    .reg .b64 %map, %array, %result;\n"                                                                           \
    "    .shared .align 1024 .b8 tile[" STRING(TILE) "];\n"                                                            \
    "    .shared .align 128 .b8 shared_map[128];\n"                                                                    \
    "    .shared .align 16 .b64 signal;\n"                                                                             \
    "    mov.b64 %d1, map; cvta.param.u64 %map, %d1;\n"                                                                \
    "    ld.param.u64 %array, [array]; ld.param.u64 %result, [result];\n"                                              \
    "    ld.param.u32 %n, [bytes]; ld.param.u32 %x, [x]; ld.param.u32 %y, [y];\n"                                      \
    "    mov.u32 %rank, %cluster_ctarank;\n"                                                                           \
    "    mov.u32 %r1, %ctaid.x; mad.wide.u32 %result, %r1, " STRING(RESULT) ", %result;\n"                             \
    "    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n"                                                              \
    "    @%p1 mbarrier.init.shared::cta.b64 [signal], 1;\n"                                                            \
    "    shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2; mov.u32 %r4, 0;\n"                             \
    "FILL:\n"                                                                                                          \
    "    st.shared.u32 [%r3], 0xeeeeeeee;\n"                                                                           \
    "    add.u32 %r3, %r3, 128; add.u32 %r4, %r4, 128; setp.lt.u32 %p2, %r4, " STRING(TILE) ";\n"                      \
    "    @%p2 bra FILL;\n"                                                                                             \
    "    fence.mbarrier_init.release.cluster;\n"                                                                       \
    "    fence.proxy.async;\n"                                                                                         \
    "    barrier.cluster.arrive; barrier.cluster.wait;\n"                                                              \
    "    @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [signal], %n;\n"
#define WAIT(name)                                                                                                     \
    "    mov.u32 %r5, 0;\n" name ":\n"                                                                                 \
    "    mbarrier.test_wait.parity.shared::cta.b64 %p2, [signal], 0;\n"                                                \
    "    @%p2 bra " name "_END;\n"                                                                                     \
    "    add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 100000;\n"                                                         \
    "    @%p3 bra " name ";\n" name "_END:\n"
#define END                                                                                                            \
    WAIT("LAST")                                                                                                       \
    "    selp.u32 %r6, 1, 0, %p2;\n"                                                                                   \
    "    barrier.cluster.arrive; barrier.cluster.wait;\n"                                                              \
    "    @%p1 st.global.u32 [%result+" STRING(TILE) "], %r6;\n"                                                        \
    "    cvt.u64.u32 %d1, %r2; add.u64 %result, %result, %d1; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;\n"             \
    "    mov.u32 %r4, 0;\n"                                                                                            \
    "COPY:\n"                                                                                                          \
    "    ld.shared.u32 %r6, [%r3]; st.global.u32 [%result], %r6;\n"                                                    \
    "    add.u32 %r3, %r3, 128; add.u64 %result, %result, 128;\n"                                                      \
    "    add.u32 %r4, %r4, 128; setp.lt.u32 %p2, %r4, " STRING(TILE) ";\n"                                             \
    "    @%p2 bra COPY;\n"                                                                                             \
    "    ret;\n"                                                                                                       \
    "}\n"
#define KERNEL(body) HEADER("sm_90") BEGIN body END
#define KERNEL_90A(body) HEADER("sm_90a") BEGIN body END

#define LINEAR_LOAD "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
#define LINEAR_STORE "cp.async.bulk.global.shared::cta.bulk_group"
#define LOAD_2D "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
#define FINISH "    @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;\n"
#define LOAD_TILE "    @%p1 " LOAD_2D " [tile], [%map, {%x, %y}], [signal];\n"

// The array in device memory that the copies read or write.
#define ARRAY_BYTES 16384
static unsigned array_words[ARRAY_BYTES / 4];
static CUdeviceptr array, result;

static CUmodule module;
static unsigned tile_words[8][RESULT / 4];

// The arguments of the next launch.
static struct {
    CUtensorMap map;
    unsigned bytes, blocks, cluster;
    int x, y;
} next;

// Parameters of the next tensor map: an array of 4-byte elements, 32 in a row and 16 rows of 160 bytes.
static struct {
    CUtensorMapDataType type;
    uint32_t rank;
    uint64_t sizes[5], strides[5];
    uint32_t box[5], steps[5];
    int interleave, swizzle, fill;
} tensor;

static void reset_tensor(void) {
    memset(&tensor, 0, sizeof tensor);
    memset(&next, 0, sizeof next);
    tensor.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
    tensor.rank = 2;
    tensor.sizes[0] = 32;
    tensor.sizes[1] = 16;
    tensor.strides[0] = 160;
    tensor.box[0] = 32;
    tensor.box[1] = 8;
    for (int i = 0; i < 5; i++) {
        tensor.steps[i] = 1;
    }
    next.blocks = next.cluster = 1;
    next.bytes = 32 * 8 * 4;
}

static void encode(void) {
    NEED(cuTensorMapEncodeTiled(&next.map, tensor.type, tensor.rank, (void *)array, tensor.sizes, tensor.strides,
                                tensor.box, tensor.steps, tensor.interleave, tensor.swizzle, 0, tensor.fill));
}

// Word `i` of the array is `i`, in little-endian order.
static void set_up(void) {
    start();
    array = allocate(ARRAY_BYTES);
    result = allocate(sizeof tile_words);
    for (unsigned i = 0; i < ARRAY_BYTES / 4; i++) {
        array_words[i] = i;
    }
    NEED(cuMemcpyHtoD_v2(array, array_words, ARRAY_BYTES));
    reset_tensor();
}

static CUresult launch(const char *ptx) {
    void *arguments[] = {&next.map, &array, &result, &next.bytes, &next.x, &next.y};
    CUlaunchAttribute attribute;
    CUlaunchConfig config;
    CUfunction kernel;
    CUdeviceptr map;
    size_t bytes;
    CUresult status = cuModuleLoadData(&module, ptx);
    if (status != CUDA_SUCCESS) {
        return status;
    }
    NEED(cuModuleGetFunction(&kernel, module, "kernel"));
    NEED(cuModuleGetGlobal_v2(&map, &bytes, module, "global_map"));
    NEED(cuMemcpyHtoD_v2(map, &next.map, sizeof next.map));
    NEED(cuModuleGetGlobal_v2(&map, &bytes, module, "constant_map"));
    NEED(cuMemcpyHtoD_v2(map, &next.map, sizeof next.map));
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    config.gridDimX = next.blocks;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 32;
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = next.cluster;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cuLaunchKernelEx(&config, kernel, arguments, NULL);
}

// Runs a kernel and reads the results of its blocks.
static CUresult run(const char *ptx) {
    CUresult status = launch(ptx);
    if (status == CUDA_SUCCESS) {
        status = cuCtxSynchronize();
    }
    if (status == CUDA_SUCCESS) {
        NEED(cuMemcpyDtoH_v2(tile_words, result, sizeof tile_words));
        NEED(cuMemcpyDtoH_v2(array_words, array, ARRAY_BYTES));
        NEED(cuModuleUnload(module));
    }
    return status;
}

static unsigned hash(const unsigned *words, unsigned count) {
    unsigned sum = 2166136261u;
    for (unsigned i = 0; i < 4 * count; i++) {
        sum = (sum ^ (words[i / 4] >> i % 4 * 8 & 255)) * 16777619u;
    }
    return sum;
}

// Prints whether the copies of a block completed, the hash of its tile, and every `step`th of its first words; a dash
// for one that no copy wrote.
static void print_tile(const char *name, unsigned block, unsigned step, unsigned count) {
    static char text[4096];
    char *end = text;
    for (unsigned i = 0; i < count; i++) {
        unsigned word = tile_words[block][i * step];
        end += word == 0xeeeeeeee ? sprintf(end, " -") : sprintf(end, " %x", word);
    }
    VALUE(name, "complete %u, hash %08x,%s", tile_words[block][TILE / 4], hash(tile_words[block], TILE / 4), text);
}

// Prints the hash of the array, and some of its words.
static void print_array(const char *name, unsigned first, unsigned count) {
    static char text[4096];
    char *end = text;
    for (unsigned i = 0; i < count; i++) {
        end += sprintf(end, " %x", array_words[first + i]);
    }
    VALUE(name, "hash %08x,%s", hash(array_words, ARRAY_BYTES / 4), text);
}

// Runs a kernel, and prints the first words of the tile of its first block.
static void show_tile(const char *name, const char *ptx, unsigned step, unsigned count) {
    if (CALL(label("run-%s", name), run(ptx)) == CUDA_SUCCESS) {
        print_tile(label("tile-%s", name), 0, step, count);
    }
}

// The number of bytes that copies of other sizes than multiples of 16 copy.
static void sizes(void) {
    static const unsigned all[] = {1, 8, 17, 24, 30, 40};
    set_up();
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        next.x = all[i];
        next.bytes = all[i] / 16 * 16;
        show_tile(label("%u", all[i]), KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], %x, [signal];\n"), 1, 16);
    }
}

static void linear_copies(void) {
    static const unsigned sizes[] = {16, 48, 4096};
    set_up();
    for (int i = 0; i < 3; i++) {
        next.bytes = sizes[i];
        show_tile(label("%u-bytes", sizes[i]),
                  KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], %n, [signal];\n" WAIT("LOADED")
                         "    @%p1 " LINEAR_STORE " [%array+8192], [tile], %n;\n" FINISH),
                  4, 8);
        print_array(label("array-%u-bytes", sizes[i]), 2048 + sizes[i] / 4 - 2, 4);
    }
    next.bytes = 64;
    show_tile("cache-hint",
              KERNEL("    createpolicy.fractional.L2::evict_first.b64 %d2, 1.0;\n"
                     "    @%p1 cp.async.bulk.prefetch.L2.global [%array], %n;\n"
                     "    @%p1 " LINEAR_LOAD ".L2::cache_hint [tile], [%array+64], %n, [signal], %d2;\n"),
              4, 5);
    // Two bytes too many are expected.
    next.bytes = 66;
    show_tile("too-few-bytes", KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], 64, [signal];\n"), 4, 5);
}

static void empty_copy(void) {
    set_up();
    next.bytes = 0;
    show_tile("0-bytes", KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], %n, [signal];\n"), 4, 2);
}

static void swizzles(void) {
    static const struct {
        int swizzle;
        unsigned width;
    } all[] = {{0, 32}, {1, 8}, {2, 16}, {3, 32}, {3, 16}, {3, 4}, {2, 12}, {1, 4}};
    static const int positions[][2] = {{0, 0}, {-4, -2}, {28, 12}, {-40, 0}, {0, 16}};
    set_up();
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (unsigned p = 0; p < (i < 4 ? 5 : 1); p++) {
            tensor.swizzle = all[i].swizzle;
            tensor.box[0] = all[i].width;
            next.bytes = all[i].width * 8 * 4;
            next.x = positions[p][0];
            next.y = positions[p][1];
            encode();
            show_tile(label("swizzle-%d-width-%u-at-%d-%d", all[i].swizzle, all[i].width, next.x, next.y),
                      KERNEL(LOAD_TILE), 4, 64);
        }
    }
    // A tile that starts at 128 bytes, not at a multiple of the pattern.
    reset_tensor();
    tensor.swizzle = 3;
    encode();
    show_tile("swizzle-3-at-128-bytes",
              KERNEL("    @%p1 " LOAD_2D " [tile+128], [%map, {%x, %y}], [signal];\n"), 4, 72);
    tensor.swizzle = 0;
    tensor.rank = 1;
    next.bytes = 128;
    encode();
    show_tile("rank-1",
              KERNEL("    @%p1 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[tile], [%map, {%x}], [signal];\n"),
              1, 33);
    reset_tensor();
    tensor.rank = 5;
    for (int i = 0; i < 5; i++) {
        tensor.sizes[i] = i ? 3 : 8;
        tensor.box[i] = i ? 2 : 4;
        tensor.strides[i] = i ? 3 * tensor.strides[i - 1] : 32;
    }
    next.bytes = 4 * 16 * 4;
    next.x = 2;
    next.y = 1;
    encode();
    show_tile("rank-5",
              KERNEL("    mov.u32 %r7, 0; mov.u32 %r8, 2;\n"
                     "    @%p1 cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
                     "[%map, {%x, %y, %r7, %y, %r8}], [signal];\n"),
              4, 17);
}

static void element_strides(void) {
    set_up();
    for (unsigned step = 1; step <= 8; step++) {
        tensor.steps[1] = step;
        tensor.box[0] = 8;
        tensor.box[1] = 9;
        next.bytes = 32 * ((9 + step - 1) / step);
        next.y = -1;
        encode();
        show_tile(label("step-%u", step), KERNEL(LOAD_TILE), 8, 10);
    }
    tensor.steps[0] = 2;
    tensor.steps[1] = 1;
    next.bytes = 32 * 9;
    encode();
    show_tile("step-2-in-a-row", KERNEL(LOAD_TILE), 1, 17);
}

static void elements_outside(void) {
    static const CUtensorMapDataType types[] = {0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12};
    static const unsigned widths[] = {1, 2, 4, 8, 2, 4, 8, 2, 4, 4, 4};
    set_up();
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (int fill = 0; fill <= (types[i] >= 6); fill++) {
            tensor.type = types[i];
            tensor.fill = fill;
            tensor.sizes[0] = 32 / widths[i];
            tensor.box[0] = 48 / widths[i];
            tensor.box[1] = 2;
            next.bytes = 96;
            next.x = 16 / widths[i];
            next.y = 15;
            encode();
            show_tile(label("type-%d-fill-%d", types[i], fill), KERNEL(LOAD_TILE), 1, 25);
        }
    }
}

// Subnormal numbers, ties of TF32, infinities and NaNs.
static void conversions(void) {
    static const unsigned values[] = {0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x3f800000, 0x3f800fff,
                                      0x3f801000, 0x3f801001, 0x3f802fff, 0x3f803000, 0xbf801000, 0x7f7fffff,
                                      0x7f800000, 0xff800000, 0x7f800001, 0x7fc01234, 0xffc01234, 0x007ff000,
                                      0x00001000, 0x80003000};
    static const CUtensorMapDataType types[] = {2, 7, 10, 11, 12};
    set_up();
    NEED(cuMemcpyHtoD_v2(array, values, sizeof values));
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
        tensor.type = types[i];
        tensor.box[0] = 20;
        tensor.box[1] = 1;
        next.bytes = 80;
        encode();
        show_tile(label("load-type-%d", types[i]), KERNEL(LOAD_TILE), 1, 20);
    }
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++) {
        tensor.type = types[i];
        next.x = 0;
        next.y = 2;
        encode();
        CALL(label("run-store-type-%d", types[i]),
             run(KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], %n, [signal];\n" WAIT("LOADED")
                        "    @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
                        "[%map, {%x, %y}], [tile];\n" FINISH)));
        print_array(label("array-store-type-%d", types[i]), 80, 20);
    }
}

static void stores(void) {
    static const int positions[][2] = {{0, 8}, {4, 14}, {28, 0}, {32, 0}};
    set_up();
    for (int swizzle = 0; swizzle <= 3; swizzle += 3) {
        for (unsigned i = 0; i < 4; i++) {
            tensor.swizzle = swizzle;
            next.x = positions[i][0];
            next.y = positions[i][1];
            encode();
            CALL(label("run-%d-%d-swizzle-%d", next.x, next.y, swizzle),
                 run(KERNEL("    mov.u32 %r7, 0;\n"
                            "    @%p1 " LOAD_2D " [tile], [%map, {%r7, %r7}], [signal];\n" WAIT("LOADED")
                            "    @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%x, %y}], [tile];\n"
                            FINISH)));
            print_array(label("array-%d-%d-swizzle-%d", next.x, next.y, swizzle), 40 * (unsigned)next.y % 640, 8);
        }
    }
    reset_tensor();
    tensor.steps[1] = 3;
    tensor.box[0] = 8;
    next.bytes = 128;
    next.y = 1;
    encode();
    CALL("run-step-3", run(KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], %n, [signal];\n" WAIT("LOADED")
                                  "    @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%x, %y}], "
                                  "[tile];\n" FINISH)));
    print_array("array-step-3", 40 * 4, 4);
}

// A reduction of 16 bytes of device memory, which repeat `old`, and of 16 bytes that repeat `new`.
#define REDUCTION(operation, old, new)                                                                                 \
    do {                                                                                                               \
        NEED(cuMemsetD32_v2(array, new, 4));                                                                           \
        NEED(cuMemsetD32_v2(array + 16, old, 4));                                                                      \
        next.bytes = 16;                                                                                               \
        CALL(label("run-%s-%x-%x", operation, old, new),                                                               \
             run(KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array], %n, [signal];\n" WAIT(                             \
                 "LOADED") "    @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group." operation                    \
                           " [%array+16], [tile], %n;\n" FINISH)));                                                    \
        print_array(label("array-%s-%x-%x", operation, old, new), 4, 4);                                               \
    } while (0)

static void reductions(void) {
    set_up();
    REDUCTION("add.u32", 0xffffffff, 2);
    REDUCTION("add.s32", 5, 0xfffffff9);
    REDUCTION("add.u64", 0xffffffff, 2);
    REDUCTION("min.s32", 5, 0xfffffff9);
    REDUCTION("max.s32", 5, 0xfffffff9);
    REDUCTION("min.u32", 5, 0xfffffff9);
    REDUCTION("max.u64", 5, 0xfffffff9);
    REDUCTION("min.s64", 5, 0xfffffff9);
    REDUCTION("inc.u32", 5, 5);
    REDUCTION("inc.u32", 4, 5);
    REDUCTION("dec.u32", 0, 5);
    REDUCTION("dec.u32", 9, 5);
    REDUCTION("and.b32", 12, 10);
    REDUCTION("or.b64", 12, 10);
    REDUCTION("xor.b32", 12, 10);
    REDUCTION("add.f32", 0x3fc00000, 0x40000000);
    REDUCTION("add.f32", 0x00000001, 0x00000001);
    REDUCTION("add.f32", 0x7f800000, 0xff800000);
    REDUCTION("add.f64", 0x3ff80000, 0x40000000);
    REDUCTION("add.noftz.f16", 0x3c003800, 0x3c000001);
    REDUCTION("add.noftz.bf16", 0x3f803f00, 0x3f800001);
    REDUCTION("min.f16", 0x3c007e00, 0x7e003800);
    REDUCTION("max.f16", 0x80007e01, 0x00007e02);
    REDUCTION("max.bf16", 0x80007fc1, 0x00003f80);
    REDUCTION("min.bf16", 0x00003f80, 0x8000bf80);
}

static void tensor_reductions(void) {
    static const struct {
        const char *name;
        CUtensorMapDataType type;
        const char *ptx;
    } all[] = {
#define TENSOR_REDUCTION(operation, type)                                                                              \
    {operation, type,                                                                                                  \
     KERNEL("    @%p1 " LINEAR_LOAD " [tile], [%array+4096], %n, [signal];\n" WAIT(                                    \
         "LOADED") "    @%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta." operation                             \
                   ".tile.bulk_group [%map, {%x, %y}], [tile];\n" FINISH)}
        TENSOR_REDUCTION("add", 2), TENSOR_REDUCTION("add", 3),  TENSOR_REDUCTION("min", 3),
        TENSOR_REDUCTION("max", 2), TENSOR_REDUCTION("inc", 2),  TENSOR_REDUCTION("dec", 2),
        TENSOR_REDUCTION("and", 2), TENSOR_REDUCTION("or", 2),   TENSOR_REDUCTION("xor", 2),
        TENSOR_REDUCTION("add", 4), TENSOR_REDUCTION("add", 6),  TENSOR_REDUCTION("add", 7),
        TENSOR_REDUCTION("add", 9), TENSOR_REDUCTION("max", 6),
    };
    set_up();
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        unsigned width = all[i].type == 4 ? 8 : all[i].type == 6 || all[i].type == 9 ? 2 : 4;
        tensor.type = all[i].type;
        tensor.sizes[0] = 128 / width;
        tensor.box[0] = 32 / width;
        tensor.box[1] = 4;
        next.bytes = 128;
        next.x = 16 / width;
        next.y = 13;
        encode();
        NEED(cuMemsetD32_v2(array, 0x3f803c05, 1024));
        NEED(cuMemsetD32_v2(array + 4096, 0x40003807, 1024));
        CALL(label("run-%s-type-%d", all[i].name, all[i].type), run(all[i].ptx));
        print_array(label("array-%s-type-%d", all[i].name, all[i].type), 40 * 13 + 2, 12);
    }
}

static void clusters(void) {
    set_up();
    tensor.box[1] = 4;
    next.bytes = 512;
    next.blocks = 4;
    next.cluster = 4;
    encode();
    CALL("run-multicast",
         run(KERNEL("    setp.eq.and.u32 %p4, %rank, 1, %p1; mov.u16 %h1, 0xd; add.u32 %y, %y, 2;\n"
                    "    setp.eq.u32 %p5, %rank, 1;\n"
                    "    @%p4 " LOAD_2D ".multicast::cluster [tile+256], [%map, {%x, %y}], [signal], %h1;\n"
                    "    @%p5 bra LAST_END;\n")));
    for (unsigned block = 0; block < 4; block++) {
        print_tile(label("tile-multicast-block-%u", block), block, 32, 8);
    }
    next.bytes = 256;
    CALL("run-linear-multicast",
         run(KERNEL("    setp.eq.and.u32 %p4, %rank, 0, %p1; mov.u16 %h1, 0xf;\n"
                    "    @%p4 " LINEAR_LOAD ".multicast::cluster [tile], [%array], %n, [signal], %h1;\n")));
    for (unsigned block = 0; block < 4; block++) {
        print_tile(label("tile-linear-multicast-block-%u", block), block, 16, 5);
    }
    // To the next block.
#define TO_NEXT                                                                                                        \
    "    add.u32 %r7, %rank, 1; and.b32 %r7, %r7, 3;\n"                                                                \
    "    mapa.shared::cluster.u32 %r8, tile, %r7; mapa.shared::cluster.u32 %r9, signal, %r7;\n"
    next.bytes = 128;
    CALL("run-copy-to-next-block",
         run(KERNEL(TO_NEXT "    add.u32 %r3, %r2, 0; mov.u32 %r10, tile; add.u32 %r10, %r10, %r3;\n"
                            "    st.shared.u32 [%r10+1024], %rank; fence.proxy.async.shared::cta; bar.warp.sync -1;\n"
                            "    @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r8], "
                            "[tile+1024], %n, [%r9];\n")));
    for (unsigned block = 0; block < 4; block++) {
        print_tile(label("tile-copy-to-next-block-%u", block), block, 16, 5);
    }
    CALL("run-reduction-in-next-block",
         run(KERNEL(TO_NEXT "    mov.u32 %r10, tile; add.u32 %r10, %r10, %r2;\n"
                            "    st.shared.u32 [%r10], 100; st.shared.u32 [%r10+1024], %rank;\n"
                            "    fence.proxy.async.shared::cta; barrier.cluster.arrive; barrier.cluster.wait;\n"
                            "    @%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                            ".add.u32 [%r8], [tile+1024], %n, [%r9];\n")));
    for (unsigned block = 0; block < 4; block++) {
        print_tile(label("tile-reduction-in-next-block-%u", block), block, 16, 5);
    }
    next.bytes = 128 + 24;
    CALL("run-asynchronous-stores",
         run(KERNEL(TO_NEXT "    add.u32 %r10, %r8, %r2; cvt.u64.u32 %d3, %rank;\n"
                            "    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %rank, [%r9];\n"
                            "    @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%r8+256], "
                            "{%d3, %d3}, [%r9];\n"
                            "    @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%r8+512], "
                            "%d3, [%r9];\n")));
    for (unsigned block = 0; block < 4; block++) {
        print_tile(label("tile-asynchronous-stores-%u", block), block, 16, 9);
    }
    next.bytes = 128;
    CALL("run-asynchronous-reductions",
         run(KERNEL(TO_NEXT "    mov.u32 %r10, 1000; @%p1 st.shared.u32 [tile], %r10;\n"
                            "    barrier.cluster.arrive; barrier.cluster.wait;\n"
                            "    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r8], "
                            "%rank, [%r9];\n")));
    for (unsigned block = 0; block < 4; block++) {
        print_tile(label("tile-asynchronous-reductions-%u", block), block, 16, 2);
    }
}

static void places_of_maps(void) {
    set_up();
    encode();
    show_tile("parameter", KERNEL("    @%p1 prefetch.tensormap [%map];\n" LOAD_TILE), 32, 8);
    show_tile("global",
              KERNEL("    mov.u64 %d2, global_map; cvta.global.u64 %d2, %d2;\n"
                     "    @%p1 " LOAD_2D " [tile], [%d2, {%x, %y}], [signal];\n"),
              32, 8);
    show_tile("constant",
              KERNEL("    mov.u64 %d2, constant_map; cvta.const.u64 %d2, %d2;\n"
                     "    @%p1 " LOAD_2D " [tile], [%d2, {%x, %y}], [signal];\n"),
              32, 8);
}

static void replaced_fields(void) {
    set_up();
    encode();
    next.bytes = 9 * 32;
    next.y = -1;
    show_tile("all-fields",
              KERNEL_90A(
                  "    cvt.u64.u32 %d3, %r2; add.u64 %d3, %map, %d3; ld.b32 %r7, [%d3];\n"
                  "    mov.u32 %r8, shared_map; add.u32 %r8, %r8, %r2; st.shared.u32 [%r8], %r7; bar.warp.sync -1;\n"
                  "    add.u64 %d4, %array, 4096; mov.u32 %r9, 5; mov.u64 %d5, 48;\n"
                  "    mov.u32 %r10, 1; mov.u32 %r11, 8; mov.u32 %r12, 9;\n"
                  "    @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [shared_map], %d4;\n"
                  "    @%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [shared_map], %r10;\n"
                  "    @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [shared_map], 1, %r9;\n"
                  "    @%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [shared_map], 0, %d5;\n"
                  "    @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [shared_map], 0, %r11;\n"
                  "    @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [shared_map], 1, %r12;\n"
                  "    @%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [shared_map], 7;\n"
                  "    @%p1 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [shared_map], 0;\n"
                  "    @%p1 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [shared_map], 1;\n"
                  "    @%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [shared_map], 1;\n"
                  "    bar.warp.sync -1; mov.u64 %d6, global_map;\n"
                  "    tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d6], "
                  "[shared_map], 128;\n"
                  "    fence.proxy.tensormap::generic.acquire.gpu [%d6], 128;\n"
                  "    @%p1 " LOAD_2D " [tile], [%d6, {%x, %y}], [signal];\n"),
              4, 20);
}

static void im2col(void) {
    static const uint64_t sizes[] = {4, 6, 5, 2}, strides[] = {16, 96, 480};
    static const int lower[] = {-1, -1}, upper[] = {-1, -2}, positions[][2] = {{-1, -1}, {2, 0}, {3, 1}};
    uint32_t steps[] = {1, 1, 1, 1};
    set_up();
    next.bytes = 30 * 16;
    for (unsigned step = 1; step <= 2; step++) {
        steps[1] = steps[2] = step;
        NEED(cuTensorMapEncodeIm2col(&next.map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, (void *)array, sizes, strides, lower,
                                     upper, 4, 30, steps, 0, 0, 0, 0));
        for (unsigned i = 0; i < 3; i++) {
            next.x = positions[i][0];
            next.y = positions[i][1];
            show_tile(label("at-%d-%d-step-%u", next.x, next.y, step),
                      KERNEL("    mov.u16 %h1, 1; mov.u16 %h2, 2; mov.u32 %r7, 0;\n"
                             "    @%p1 cp.async.bulk.tensor.4d.shared::cluster.global.im2col"
                             ".mbarrier::complete_tx::bytes [tile], [%map, {%r7, %x, %y, %r7}], [signal], "
                             "{%h1, %h2};\n"),
                      4, 31);
        }
    }
}

// Slices of channels of 16 and 32 bytes.
static void interleaved(void) {
    set_up();
    for (int interleave = 1; interleave <= 2; interleave++) {
        for (int swizzle = 0; swizzle < interleave; swizzle++) {
            tensor.interleave = interleave;
            tensor.swizzle = swizzle;
            tensor.rank = 3;
            tensor.sizes[0] = 4 * interleave;
            tensor.sizes[1] = 8;
            tensor.sizes[2] = 4;
            tensor.strides[0] = 16 * interleave;
            tensor.strides[1] = 160 * interleave;
            tensor.box[0] = 4 * interleave;
            tensor.box[1] = 6;
            tensor.box[2] = 2;
            next.bytes = 16 * interleave * 12;
            next.x = 0;
            next.y = 1;
            encode();
            show_tile(label("interleave-%d-swizzle-%d", interleave, swizzle),
                      KERNEL("    mov.u32 %r7, 2;\n"
                             "    @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                             "[tile], [%map, {%x, %y, %r7}], [signal];\n"),
                      4, 32);
        }
    }
}

#define IM2COL_LOAD(rank, coordinates, offsets)                                                                        \
    "    @%p1 cp.async.bulk.tensor." #rank "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [tile], "    \
    "[%map, {" coordinates "}], [signal], {" offsets "};\n"

// The number of slices, the steps of each dimension, and pixels of images in slices.
static void slices(void) {
    static const int lower[] = {-1, 0}, upper[] = {0, -1};
    set_up();
    tensor.rank = 4;
    for (int i = 0; i < 4; i++) {
        tensor.sizes[i] = 6 + i;
        tensor.strides[i] = (uint64_t[]){32, 256, 1536, 0}[i];
        tensor.box[i] = 4;
    }
    next.bytes = 16 * 4 * 4 * 4;
    tensor.interleave = 1;
    next.x = 3;
    next.y = -1;
    for (int swizzle = 0; swizzle <= 3; swizzle++) {
        tensor.swizzle = swizzle;
        encode();
        show_tile(label("rank-4-swizzle-%d", swizzle),
                  KERNEL("    mov.u32 %r7, 1;\n"
                         "    @%p1 cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[tile], [%map, {%x, %y, %r7, %r7}], [signal];\n"),
                  4, 64);
    }
    tensor.swizzle = 0;
    for (int i = 0; i < 4; i++) {
        tensor.steps[i] = 2;
        next.bytes = i == 2 ? 1024 : 512;
        encode();
        show_tile(label("step-of-%d", i),
                  KERNEL("    mov.u32 %r7, 1;\n"
                         "    @%p1 cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
                         "[tile], [%map, {%x, %y, %r7, %r7}], [signal];\n"),
                  4, 32);
        tensor.steps[i] = 1;
    }
    for (int interleave = 1; interleave <= 2; interleave++) {
        for (int step = 1; step <= 2; step++) {
            uint32_t steps[] = {step, 1, 1, step};
            next.x = 2;
            next.y = interleave;
            next.bytes = interleave * 16 * 20;
            NEED(cuTensorMapEncodeIm2col(&next.map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, (void *)array, tensor.sizes,
                                         tensor.strides, lower, upper, 4, 20, steps, interleave, 0, 0, 0));
            show_tile(label("im2col-interleave-%d-step-%d", interleave, step),
                      KERNEL("    mov.u16 %h1, 1; mov.u16 %h2, 0; mov.u32 %r7, 1;\n" IM2COL_LOAD(
                          4, "%x, %y, %r7, %r7", "%h1, %h2")),
                      4, 40);
        }
    }
    next.y = 1;
    encode();
    CALL("run-store",
         run(KERNEL("    mov.u32 %r7, 1; @%p1 st.shared.u32 [tile+16], 0x12345678; fence.proxy.async;\n"
                    "    @%p1 cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%map, {%x, %y, %r7, %r7}], "
                    "[tile];\n" FINISH)));
    print_array("array-after-store", 476, 8);
}

// Descriptors of maps that tensor-maps.c does not encode.
static void encodings(void) {
    static const uint64_t sizes[] = {64, 9, 9, 9, 9}, strides[] = {256, 2304, 20736, 186624};
    static const uint32_t steps[] = {1, 1, 1, 1, 1};
    static CUtensorMap map;
    int lower[] = {0, 0, 0}, upper[] = {0, 0, 0};
    set_up();
#define IM2COL(rank, channels, pixels, swizzle)                                                                        \
    cuTensorMapEncodeIm2col(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, rank, (void *)array, sizes, strides, lower, upper,  \
                            channels, pixels, steps, 0, swizzle, 0, 0)
    for (int rank = 1; rank <= 6; rank++) {
        CALL(label("im2col-rank-%d", rank), IM2COL(rank, 8, 8, 0));
    }
    CALL("im2col-channels-0", IM2COL(4, 0, 8, 0));
    CALL("im2col-channels-2", IM2COL(4, 2, 8, 0));
    CALL("im2col-channels-256", IM2COL(4, 256, 8, 0));
    CALL("im2col-channels-260", IM2COL(4, 260, 8, 0));
    CALL("im2col-pixels-0", IM2COL(4, 8, 0, 0));
    CALL("im2col-pixels-1024", IM2COL(4, 8, 1024, 0));
    CALL("im2col-pixels-1025", IM2COL(4, 8, 1025, 0));
    CALL("im2col-swizzle-32-row-64", IM2COL(4, 16, 8, 1));
    for (int rank = 3; rank <= 5; rank++) {
        int limit = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;
        for (int i = -1; i <= 1; i++) {
            lower[0] = -limit + i;
            CALL(label("im2col-rank-%d-lower-%d", rank, lower[0]), IM2COL(rank, 8, 8, 0));
            lower[0] = 0;
            upper[0] = limit + i;
            CALL(label("im2col-rank-%d-upper-%d", rank, upper[0]), IM2COL(rank, 8, 8, 0));
            upper[0] = 0;
        }
    }
    lower[1] = -4;
    for (int i = -14; i <= -11; i++) {
        upper[1] = i;
        CALL(label("im2col-box-of-%d", 9 + i + 4), IM2COL(4, 8, 8, 0));
    }
    CALL("im2col-wide", cuTensorMapEncodeIm2colWide(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, (void *)array, sizes,
                                                    strides, 0, 0, 8, 8, steps, 0, 0, 3, 0, 0));
    CALL("misaligned-map", cuTensorMapEncodeTiled((CUtensorMap *)((char *)&map + 16), 7, 1, (void *)array, sizes,
                                                  strides, (uint32_t[]){8}, steps, 0, 0, 0, 0));
    CALL("null-map", cuTensorMapEncodeTiled(NULL, 7, 1, (void *)array, sizes, strides, (uint32_t[]){8}, steps, 0, 0, 0,
                                            0));
    CALL("rank-1-null-strides", cuTensorMapEncodeTiled(&map, 7, 1, (void *)array, sizes, NULL, (uint32_t[]){8}, steps,
                                                       0, 0, 0, 0));
}

// Runs a kernel whose copy is invalid.
static void misuse(const char *ptx) {
    set_up();
    encode();
    CALL("launch", launch(ptx));
    CALL("synchronize", cuCtxSynchronize());
}

#define MISUSE(name, body)                                                                                             \
    static void name(void) {                                                                                           \
        misuse(KERNEL(body));                                                                                          \
    }

MISUSE(shared_address_misaligned, "    @%p1 " LINEAR_LOAD " [tile+8], [%array], 16, [signal];\n")
MISUSE(global_address_misaligned, "    @%p1 " LINEAR_LOAD " [tile], [%array+8], 16, [signal];\n")
MISUSE(barrier_misaligned, "    @%p1 " LINEAR_LOAD " [tile], [%array], 16, [signal+4];\n")
MISUSE(size_of_24_bytes, "    mov.u32 %r7, 24; @%p1 " LINEAR_LOAD " [tile], [%array], %r7, [signal];\n")
MISUSE(size_of_4_bytes, "    mov.u32 %r7, 4; @%p1 " LINEAR_LOAD " [tile], [%array], %r7, [signal];\n")
MISUSE(null_source, "    mov.u64 %d2, 0; @%p1 " LINEAR_LOAD " [tile], [%d2], 16, [signal];\n")
MISUSE(source_outside_shared, "    @%p1 " LINEAR_STORE " [%array], [tile+65536], 16;\n" FINISH)
MISUSE(destination_outside_shared, "    @%p1 " LINEAR_LOAD " [tile+65536], [%array], 16, [signal];\n")
MISUSE(store_to_misaligned, "    @%p1 " LINEAR_STORE " [%array+8], [tile], 16;\n" FINISH)
MISUSE(store_to_null, "    mov.u64 %d2, 0; @%p1 " LINEAR_STORE " [%d2], [tile], 16;\n" FINISH)
MISUSE(store_of_24_bytes, "    mov.u32 %r7, 24; @%p1 " LINEAR_STORE " [%array], [tile], %r7;\n" FINISH)
MISUSE(tile_at_16_bytes, "    @%p1 " LOAD_2D " [tile+16], [%map, {%x, %y}], [signal];\n")
MISUSE(tile_at_64_bytes, "    @%p1 " LOAD_2D " [tile+64], [%map, {%x, %y}], [signal];\n")
MISUSE(map_misaligned, "    add.u64 %map, %map, 32;\n" LOAD_TILE)
MISUSE(map_of_other_bytes, "    @%p1 " LOAD_2D " [tile], [%array, {%x, %y}], [signal];\n")
MISUSE(map_of_other_rank, "    @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                          "[tile], [%map, {%x, %y, %y}], [signal];\n")
MISUSE(map_of_other_mode, "    mov.u16 %h1, 0;\n    @%p1 cp.async.bulk.tensor.3d.shared::cluster.global.im2col"
                          ".mbarrier::complete_tx::bytes [tile], [%map, {%x, %y, %y}], [signal], {%h1};\n")
MISUSE(asynchronous_store_misaligned, "    mov.u32 %r7, tile; mapa.shared::cluster.u32 %r7, %r7, %rank;\n"
                                      "    mapa.shared::cluster.u32 %r8, signal, %rank;\n"
                                      "    @%p1 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
                                      "[%r7+2], %rank, [%r8];\n")

// Runs a tensor copy at a position, of an array in the middle of an allocation.
static void copy_at(int x, int y, CUtensorMapDataType type, const char *ptx) {
    set_up();
    tensor.type = type;
    tensor.box[0] = 16;
    next.x = x;
    next.y = y;
    array += ARRAY_BYTES / 2;
    encode();
    array -= ARRAY_BYTES / 2;
    CALL("launch", launch(ptx));
    CALL("synchronize", cuCtxSynchronize());
}

#define COPY_AT(name, x, y, type, body)                                                                                \
    static void name(void) {                                                                                           \
        copy_at(x, y, type, KERNEL(body));                                                                             \
    }
#define STORE_TILE                                                                                                     \
    "    @%p1 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%x, %y}], [tile];\n" FINISH
#define ADD_TILE                                                                                                       \
    "    @%p1 cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map, {%x, %y}], [tile];\n" FINISH

COPY_AT(load_at_12_bytes, 3, 0, 2, LOAD_TILE)
COPY_AT(load_at_minus_12_bytes, -3, 0, 2, LOAD_TILE)
COPY_AT(load_at_1_byte, 1, 0, 0, LOAD_TILE)
COPY_AT(load_at_8_bytes, 1, 0, 8, LOAD_TILE)
COPY_AT(store_at_4_bytes, 1, 0, 2, STORE_TILE)
COPY_AT(store_in_negative_row, 0, -1, 2, STORE_TILE)
COPY_AT(store_in_negative_column, -4, 0, 2, STORE_TILE)
COPY_AT(reduction_at_12_bytes, 3, 0, 2, ADD_TILE)
COPY_AT(reduction_in_negative_row, 4, -1, 2, ADD_TILE)

// Runs an im2col copy whose first pixel is at a position in the image.
static void pixel_at(int x, int y) {
    static const uint64_t sizes[] = {4, 6, 5, 2}, strides[] = {16, 96, 480};
    static const uint32_t steps[] = {1, 1, 1, 1};
    static const int lower[] = {-1, 0}, upper[] = {-1, -2};
    set_up();
    next.bytes = 16;
    next.x = x;
    next.y = y;
    NEED(cuTensorMapEncodeIm2col(&next.map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, (void *)array, sizes, strides, lower,
                                 upper, 4, 1, steps, 0, 0, 0, 0));
    show_tile("pixel", KERNEL("    mov.u16 %h1, 0; mov.u32 %r7, 0;\n" IM2COL_LOAD(4, "%r7, %x, %y, %r7", "%h1, %h1")),
              4, 2);
}

#define PIXEL_AT(name, x, y)                                                                                           \
    static void name(void) {                                                                                           \
        pixel_at(x, y);                                                                                                \
    }

PIXEL_AT(pixel_in_first_corner, -1, 0)
PIXEL_AT(pixel_in_last_corner, 4, 2)
PIXEL_AT(pixel_before_first_column, -2, 0)
PIXEL_AT(pixel_after_last_column, 5, 0)
PIXEL_AT(pixel_before_first_row, 0, -1)
PIXEL_AT(pixel_after_last_row, 0, 3)

static void array_at_null(void) {
    set_up();
    array = 0;
    encode();
    array = result;
    CALL("launch", launch(KERNEL(LOAD_TILE)));
    CALL("synchronize", cuCtxSynchronize());
}

int main(void) {
    RUN(linear_copies);
    RUN(sizes);
    RUN(empty_copy);
    RUN(swizzles);
    RUN(element_strides);
    RUN(elements_outside);
    RUN(conversions);
    RUN(stores);
    RUN(reductions);
    RUN(tensor_reductions);
    RUN(clusters);
    RUN(places_of_maps);
    RUN(replaced_fields);
    RUN(im2col);
    RUN(interleaved);
    RUN(slices);
    RUN(pixel_in_first_corner);
    RUN(pixel_in_last_corner);
    RUN(pixel_before_first_column);
    RUN(pixel_after_last_column);
    RUN(pixel_before_first_row);
    RUN(pixel_after_last_row);
    RUN(encodings);
    RUN(shared_address_misaligned);
    RUN(global_address_misaligned);
    RUN(barrier_misaligned);
    RUN(size_of_24_bytes);
    RUN(size_of_4_bytes);
    RUN(null_source);
    RUN(source_outside_shared);
    RUN(destination_outside_shared);
    RUN(store_to_misaligned);
    RUN(store_to_null);
    RUN(store_of_24_bytes);
    RUN(tile_at_16_bytes);
    RUN(tile_at_64_bytes);
    RUN(map_misaligned);
    RUN(map_of_other_bytes);
    RUN(map_of_other_rank);
    RUN(map_of_other_mode);
    RUN(asynchronous_store_misaligned);
    RUN(array_at_null);
    RUN(load_at_12_bytes);
    RUN(load_at_minus_12_bytes);
    RUN(load_at_1_byte);
    RUN(load_at_8_bytes);
    RUN(store_at_4_bytes);
    RUN(store_in_negative_row);
    RUN(store_in_negative_column);
    RUN(reduction_at_12_bytes);
    RUN(reduction_in_negative_row);
}
