// Stream memory operations: waits for values, writes of values, and batches of both.

#include "answers.h"

static CUstream stream;

static void writes(void) {
    CUdeviceptr memory;
    start();
    memory = allocate(64);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("32-bit", cuStreamWriteValue32_v2(stream, memory, 61, 0));
    VALUE("32-bit-value", "%u", word_at(memory));
    CALL("64-bit", cuStreamWriteValue64_v2(stream, memory + 8, 0x100000002ull, 0));
    VALUE("64-bit-value", "%u %u", word_at(memory + 8), word_at(memory + 12));
    CALL("without-barrier", cuStreamWriteValue32_v2(stream, memory, 62, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    CALL("flags-0x80", cuStreamWriteValue32_v2(stream, memory, 63, 0x80));
    CALL("32-bit-misaligned", cuStreamWriteValue32_v2(stream, memory + 2, 63, 0));
    CALL("64-bit-misaligned", cuStreamWriteValue64_v2(stream, memory + 4, 63, 0));
    CALL("null", cuStreamWriteValue32_v2(stream, 0, 63, 0));
    CALL("unknown", cuStreamWriteValue32_v2(stream, 0x1234, 63, 0));
    CALL("null-stream", cuStreamWriteValue32_v2(NULL, memory, 64, 0));
    VALUE("null-stream-value", "%u", word_at(memory));
}

static void waits(void) {
    static const char *const names[] = {"greater-or-equal", "equal", "and", "nor"};
    static const unsigned values[] = {5, 7, 4, ~7u};
    CUdeviceptr memory;
    start();
    memory = allocate(64);
    NEED(cuMemsetD32_v2(memory, 7, 16));
    NEED(cuCtxSynchronize());
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (int condition = 0; condition < 3; condition++) {
        CALL(label("satisfied-%s", names[condition]),
             cuStreamWaitValue32_v2(stream, memory, values[condition], condition));
        CALL(label("synchronize-%s", names[condition]), cuStreamSynchronize(stream));
    }
    CALL("satisfied-64-bit", cuStreamWaitValue64_v2(stream, memory + 8, 0x700000007ull, CU_STREAM_WAIT_VALUE_EQ));
    CALL("synchronize-64-bit", cuStreamSynchronize(stream));
    CALL("flags-0x80", cuStreamWaitValue32_v2(stream, memory, 7, 0x80));
    CALL("misaligned", cuStreamWaitValue32_v2(stream, memory + 2, 7, 0));
    CALL("64-bit-misaligned", cuStreamWaitValue64_v2(stream, memory + 4, 7, 0));
    CALL("null", cuStreamWaitValue32_v2(stream, 0, 7, 0));
}

// A wait that a write in another stream satisfies.
static void wait_for_write(void) {
    CUdeviceptr memory;
    CUstream other;
    start();
    memory = allocate(64);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    other = new_stream(CU_STREAM_NON_BLOCKING);
    CALL("wait", cuStreamWaitValue32_v2(stream, memory, 1, CU_STREAM_WAIT_VALUE_EQ));
    CALL("query-waiting", cuStreamQuery(stream));
    CALL("memset-after-wait", cuMemsetD32Async(memory + 4, 9, 1, stream));
    CALL("write", cuStreamWriteValue32_v2(other, memory, 1, 0));
    CALL("synchronize", cuStreamSynchronize(stream));
    VALUE("value", "%u", word_at(memory + 4));
}

static void batches(void) {
    CUstreamBatchMemOpParams operations[3];
    CUdeviceptr memory;
    start();
    memory = allocate(64);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    memset(operations, 0, sizeof operations);
    operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operations[0].writeValue.address = memory;
    operations[0].writeValue.value = 71;
    operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    operations[1].waitValue.address = memory;
    operations[1].waitValue.value = 71;
    operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    operations[2].writeValue.address = memory + 8;
    operations[2].writeValue.value64 = 72;
    CALL("three", cuStreamBatchMemOp_v2(stream, 3, operations, 0));
    VALUE("three-values", "%u %u", word_at(memory), word_at(memory + 8));
    CALL("none", cuStreamBatchMemOp_v2(stream, 0, operations, 0));
    CALL("flags-1", cuStreamBatchMemOp_v2(stream, 3, operations, 1));
    CALL("257", cuStreamBatchMemOp_v2(stream, 257, operations, 0));
    operations[0].operation = 99;
    CALL("operation-99", cuStreamBatchMemOp_v2(stream, 1, operations, 0));
    memset(operations, 0, sizeof operations);
    operations[0].operation = CU_STREAM_MEM_OP_BARRIER;
    CALL("barrier", cuStreamBatchMemOp_v2(stream, 1, operations, 0));
    operations[0].operation = CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    CALL("flush-remote-writes", cuStreamBatchMemOp_v2(stream, 1, operations, 0));
    CALL("synchronize", cuStreamSynchronize(stream));
}

int main(void) {
    RUN(writes);
    RUN(waits);
    RUN(wait_for_write);
    RUN(batches);
}
