// case: a struct copied to the device, whose pointer's memory its owner has freed
// thread: https://github.com/stephen-hqxu/superterrainplus/issues/2
struct Table {
    int *entries;
    Table(int n) {
        cudaMalloc(&entries, n * sizeof(int));
        cudaMemset(entries, 0, n * sizeof(int));
    }
    ~Table() { cudaFree(entries); }
};
__global__ void look_up(const Table *table, int *out) {
    out[threadIdx.x] = table->entries[threadIdx.x]; //~ use after free | byte 0 of the 128-byte allocation `entries` | which has been freed
}
int main() {
    void *device_table;
    int *out;
    cudaMalloc(&device_table, sizeof(Table));
    cudaMalloc(&out, 32 * sizeof(int));
    {
        Table table(32);
        cudaMemcpy(device_table, &table, sizeof(Table), cudaMemcpyHostToDevice);
#ifdef GOOD
        look_up<<<1, 32>>>((Table *)device_table, out);
        cudaDeviceSynchronize();
#endif
    }
#ifndef GOOD
    look_up<<<1, 32>>>((Table *)device_table, out);
    cudaDeviceSynchronize();
#endif
    cudaFree(device_table);
    cudaFree(out);
}
