// Warp-wide and atomic instructions, vector loads, pairs of predicates.
#include "stand_in.h"
struct alignas(16) Four { float x, y, z, w; };
extern "C" __global__ void lanes(int *out, const Four *in, unsigned *counter) {
  int lane = threadIdx.x & 31;
  Four f = in[threadIdx.x];
  int v = (int)(f.x + f.y * f.z - f.w);
  v += __nvvm_shfl_sync_down_i32(0xffffffffu, v, 16, 31);
  v += __nvvm_shfl_sync_bfly_i32(0xffffffffu, v, 1, 31);
  if (__nvvm_vote_any_sync(0xffffffffu, v > lane)) v += __nvvm_vote_ballot_sync(0xffffffffu, lane & 1);
  v += __nvvm_ldg_i((const int *)in + lane);
  v += __nvvm_atom_add_gen_i((int *)counter, 1);
  float s = __builtin_sqrtf(f.x) / f.y;
  out[threadIdx.x] = v + (int)s;
}
