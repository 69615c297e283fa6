#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <typename T> __device__ unsigned short bits(T x) { return *(unsigned short *)&x; }
template <typename T> __device__ T of(unsigned int x) { unsigned short b = x; return *(T *)&b; }
template <typename T> __device__ void all(T a, T b, T c, unsigned int *o) {
    *o++ = bits(__hadd(a, b)); *o++ = bits(__hsub(a, b)); *o++ = bits(__hmul(a, b)); *o++ = bits(__hdiv(a, b));
    *o++ = bits(__hfma(a, b, c)); *o++ = bits(__hadd_sat(a, b)); *o++ = bits(__hfma_sat(a, b, c)); *o++ = bits(__hfma_relu(a, b, c));
    *o++ = bits(__hmax(a, b)); *o++ = bits(__hmin(a, b)); *o++ = bits(__hmax_nan(a, b)); *o++ = bits(__hmin_nan(a, b));
    *o++ = bits(__hneg(a)); *o++ = bits(__habs(a));
    *o++ = __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 | __hgt(a, b) << 4 | __hge(a, b) << 5 |
           __hequ(a, b) << 6 | __hneu(a, b) << 7 | __hltu(a, b) << 8 | __hleu(a, b) << 9 | __hgtu(a, b) << 10 | __hgeu(a, b) << 11 | __hisnan(a) << 12;
    *o++ = bits(hsqrt(a)); *o++ = bits(hrint(a)); *o++ = bits(hfloor(a)); *o++ = bits(hceil(a)); *o++ = bits(htrunc(a));
}
extern "C" __global__ void narrow_functions(const unsigned int *from, unsigned int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int a = from[3 * i], b = from[3 * i + 1], c = from[3 * i + 2];
    unsigned int *o = out + 80 * i;
    all(of<__half>(a), of<__half>(b), of<__half>(c), o);
    all(of<__nv_bfloat16>(a), of<__nv_bfloat16>(b), of<__nv_bfloat16>(c), o + 20);
    o += 40;
    __half h = of<__half>(a); __nv_bfloat16 f = of<__nv_bfloat16>(a);
    *o++ = __half2int_rn(h); *o++ = __half2int_rz(h); *o++ = __half2int_rd(h); *o++ = __half2int_ru(h);
    *o++ = __half2uint_rn(h); *o++ = (unsigned short)__half2short_rn(h); *o++ = __half2ushort_rz(h); *o++ = (unsigned int)__half2ll_rn(h);
    *o++ = __bfloat162int_rn(f); *o++ = __bfloat162int_rz(f); *o++ = __bfloat162uint_rn(f); *o++ = (unsigned int)__bfloat162ll_rz(f);
    float x = __uint_as_float(b << 16 | c);
    *o++ = bits(__float2half_rn(x)); *o++ = bits(__float2half_rz(x)); *o++ = bits(__float2half_rd(x)); *o++ = bits(__float2half_ru(x));
    *o++ = bits(__float2bfloat16_rn(x)); *o++ = bits(__float2bfloat16_rz(x)); *o++ = bits(__float2bfloat16_rd(x)); *o++ = bits(__float2bfloat16_ru(x));
    int n = (int)(b << 16 | c) >> (a & 31);
    *o++ = bits(__int2half_rn(n)); *o++ = bits(__int2half_rz(n)); *o++ = bits(__int2half_rd(n)); *o++ = bits(__int2half_ru(n)); *o++ = bits(__uint2half_rn(n));
    *o++ = bits(__int2bfloat16_rn(n)); *o++ = bits(__int2bfloat16_rz(n)); *o++ = bits(__uint2bfloat16_rn(n));
    long long l = ((long long)(b << 16 | c) << 32 | (a << 16 | b)) >> (c & 63);
    *o++ = bits(__ll2half_rn(l)); *o++ = bits(__ll2bfloat16_rn(l)); *o++ = bits(__ull2bfloat16_rn(l));
    double d = (double)x * (1 + a * 1e-12);
    *o++ = bits(__double2half(d)); *o++ = bits(__double2bfloat16(d));
    *o++ = __float_as_uint(__half2float(h)); *o++ = __float_as_uint(__bfloat162float(f));
    __half2 p = __hfma2(__halves2half2(of<__half>(a), of<__half>(b)), __halves2half2(of<__half>(b), of<__half>(c)), __half2half2(of<__half>(c)));
    *o++ = *(unsigned int *)&p;
    __nv_bfloat162 q = __hmul2(__halves2bfloat162(of<__nv_bfloat16>(a), of<__nv_bfloat16>(b)), __halves2bfloat162(of<__nv_bfloat16>(b), of<__nv_bfloat16>(c)));
    *o++ = *(unsigned int *)&q;
    p = __hgt2(__halves2half2(of<__half>(a), of<__half>(b)), __halves2half2(of<__half>(b), of<__half>(c))); *o++ = *(unsigned int *)&p;
    p = __hcmadd(__halves2half2(of<__half>(a), of<__half>(b)), __halves2half2(of<__half>(b), of<__half>(c)), __halves2half2(of<__half>(c), of<__half>(a))); *o++ = *(unsigned int *)&p;
}
