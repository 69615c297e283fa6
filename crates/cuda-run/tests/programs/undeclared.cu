// Does not compile: two errors in the first line of the kernel, one of them after characters of several bytes.
__global__ void k(int *p) {
    p[0] = first; /* 核 */ p[1] = second;
}
int main() { k<<<1, 1>>>(nullptr); }
