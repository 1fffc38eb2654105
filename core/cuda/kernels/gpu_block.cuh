// The operations of a block of GPU threads beyond arithmetic: shared memory, barriers, shuffles, and products of small
// matrices by the GPU's instructions (PTX: mma.m16n8k16, ldmatrix; compute capability 8.0 and later). NVRTC compiles
// this without headers. Tests have a stand-in with the same names.
#pragma once

#define XLM_DEVICE __device__ __forceinline__
#define XLM_UNROLL _Pragma("unroll")

namespace xlm::band {

using Half = unsigned short;

XLM_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
XLM_DEVICE int block_x() { return static_cast<int>(blockIdx.x); }
XLM_DEVICE int block_y() { return static_cast<int>(blockIdx.y); }

XLM_DEVICE void* shared_memory() {
  extern __shared__ uint4 memory[];
  return memory;
}

XLM_DEVICE void sync_block() { __syncthreads(); }
XLM_DEVICE void sync_warp() { __syncwarp(); }
XLM_DEVICE float shuffle_xor(float x, int mask) { return __shfl_xor_sync(0xFFFFFFFFU, x, mask); }

/// Begins to copy 16 bytes to shared memory, or to clear them if they are not there. The thread that began it awaits
/// it.
XLM_DEVICE void begin_copy(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "l"(__cvta_generic_to_global(from)),
                 "r"(there ? 16 : 0)
               : "memory");
}
/// Until all copies that this thread began are complete. Other threads see them after a barrier.
XLM_DEVICE void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Two values as bfloat16, rounded to the nearest: the first in the lower half.
XLM_DEVICE unsigned pack(float low, float high) {
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
XLM_DEVICE void store_pair(Half* to, unsigned pair) { *reinterpret_cast<unsigned*>(to) = pair; }
XLM_DEVICE unsigned load_pair(const Half* from) { return *reinterpret_cast<const unsigned*>(from); }
XLM_DEVICE void store_pair(float* to, float first, float second) {
  *reinterpret_cast<float2*>(to) = make_float2(first, second);
}
XLM_DEVICE void load_pair(const float* from, float& first, float& second) {
  const float2 pair = *reinterpret_cast<const float2*>(from);
  first = pair.x;
  second = pair.y;
}
/// Eight values side by side, which begin at 16 bytes.
XLM_DEVICE void load_piece(const Half* from, unsigned (&pairs)[4]) {
  const uint4 piece = *reinterpret_cast<const uint4*>(from);
  pairs[0] = piece.x;
  pairs[1] = piece.y;
  pairs[2] = piece.z;
  pairs[3] = piece.w;
}
XLM_DEVICE void store_piece(Half* to, const unsigned (&pairs)[4]) {
  *reinterpret_cast<uint4*>(to) = make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}
XLM_DEVICE Half lower_of(unsigned pair) { return static_cast<Half>(pair); }
XLM_DEVICE Half upper_of(unsigned pair) { return static_cast<Half>(pair >> 16U); }
XLM_DEVICE unsigned bits_of(float x) { return __float_as_uint(x); }
XLM_DEVICE float float_of(unsigned bits) { return __uint_as_float(bits); }
XLM_DEVICE float to_float(Half x) { return __uint_as_float(static_cast<unsigned>(x) << 16U); }

XLM_DEVICE float larger(float a, float b) { return fmaxf(a, b); }
XLM_DEVICE float exponential_2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
XLM_DEVICE float inverse_root(float x) { return rsqrtf(x); }
XLM_DEVICE float natural_logarithm(float x) { return logf(x); }

/// Adds to two floats side by side, which begin at 8 bytes.
XLM_DEVICE void add_pair_to(float* to, float x, float y) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(to)), "f"(x), "f"(y)
               : "memory");
#else
  atomicAdd(to, x);
  atomicAdd(to + 1, y);
#endif
}

/// Four 8 × 8 matrices from shared memory; lane l gives the address of row l % 8 of matrix l / 8, and gets of each the
/// elements 2·(l % 4) and the next of row l / 4.
XLM_DEVICE void load_matrices(unsigned (&to)[4], const Half* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// The same of the transposed matrices.
XLM_DEVICE void load_matrices_transposed(unsigned (&to)[4], const Half* row) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// sum += A·B of a warp, A [16, 16], B [16, 8]. With g = lane / 4 and t = lane % 4 a lane has, of A, the columns 2·t
/// and 2·t + 1 of row g, of row g + 8, and the same 8 columns on; of B the rows 2·t and 2·t + 1, and 8 rows on, of
/// column g; of the sums the columns 2·t and 2·t + 1 of row g and of row g + 8.
XLM_DEVICE void multiply_add(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace xlm::band
