// Managed variables: initial values, accesses by name and by address on the host and the device, and the runtime's
// functions for symbols.
#include <cstdio>

struct Pair {
    int first;
    char letters[5];
};

__managed__ int number = 3;
static __managed__ float table[4] = {1, 2};
__device__ __managed__ Pair pair = {1, {'x'}};
namespace names {
__managed__ char letter = 'a', *pointer;
}
static __managed__ int of_the_device = 7;
__managed__ int of_the_host = 9;

// Constructors may use the variables.
static int at_start = ++number;

__global__ void change(int *other) {
    number++;
    table[2] += number;
    pair.first++;
    names::letter++;
    names::pointer = &names::letter;
    *other += of_the_device;
}

static int errors;
static void expect(int line, bool is_correct) {
    if (!is_correct) printf("line %d\n", line), ++errors;
}
#define EXPECT(...) expect(__LINE__, (__VA_ARGS__))

int main() {
    EXPECT(number == 4 && at_start == 4 && table[1] == 2 && table[3] == 0 && pair.letters[0] == 'x');
    EXPECT(sizeof(table) == 16 && sizeof(number) == 4);
    table[2] = 0.5f;
    change<<<1, 1>>>(&number);
    cudaDeviceSynchronize();
    float copy[4], *element = table + 2;
    EXPECT(number == 12 && *element == 5.5f && pair.first == 2 && names::letter == 'b');
    EXPECT(names::pointer == &names::letter && ++of_the_host == 10);
    EXPECT(!cudaMemcpyFromSymbol(copy, table, sizeof copy) && copy[2] == 5.5f);
    int forty = 40, size = 0;
    EXPECT(!cudaMemcpyToSymbol(number, &forty, sizeof forty) && number == 40);
    void *address;
    EXPECT(!cudaGetSymbolAddress(&address, number) && address == &number);
    size_t bytes = size;
    EXPECT(!cudaGetSymbolSize(&bytes, pair) && bytes == sizeof(Pair));
    cudaPointerAttributes attributes;
    EXPECT(!cudaPointerGetAttributes(&attributes, &number) && attributes.type == cudaMemoryTypeManaged);
    if (!errors) puts("correct");
    return errors;
}
