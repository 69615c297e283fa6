// Adds two vectors.

/* cuda-run
[numbers]
n = 1000

[[buffer]]
name = "a"
type = "float"
count = "n"
fill = "iota"

[[buffer]]
name = "b"
type = "float"
count = "n"
fill = { random = { seed = 7 } }

[[buffer]]
name = "c"
type = "float"
count = "n"
print = 4
expect = "a[i] + b[i]"

[[launch]]
kernel = "add"
grid = "(n + 255) / 256"
block = 256
arguments = ["a", "b", "c", "n"]
*/

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
