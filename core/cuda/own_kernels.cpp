// The program's own kernels on a GPU, part of libxlm_cuda.so. NVRTC, which comes with libtorch's CUDA libraries,
// compiles a kernel for the present GPU when it is first used, and the user's cache keeps it. Kernels run on libtorch's
// stream.
#include "core/cuda/gpu_functions.h"
#include "core/kernels/band_attention_device.h"
#include "core/kernels/gpu_program.h"
#include "core/kernels/row_kernels.h"

namespace xlm {
namespace {

enum Family { kAttention, kNorm, kLosses };  // the first number of a GpuFunctions::Kind

class GpuBandKernels : public BandKernels {
 public:
  explicit GpuBandKernels(int device) : gpu_(device) {}

  int shared_memory() const override { return gpu_.shared_memory(); }

  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    start(kind, arguments, arguments.queries, heads, 0, band::forward_memory(kind));
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    start(kind, arguments, arguments.queries, heads, 1, band::backward_queries_memory(kind));
    start(kind, arguments, arguments.keys, heads, 2, band::backward_keys_memory(kind));
  }

 private:
  void start(const band::Kind& kind, const band::Arguments& arguments, int rows, int heads, std::size_t which,
             int memory) {
    band::Arguments given = arguments;
    void* parameters[] = {&given};
    const auto& functions =
        gpu_.of({kAttention, kind.width, kind.two_queries, kind.masked, kind.dropped, kind.compact}, [&] {
          return GpuFunctions::Source{program_text(kind),
                                      {{"attention_forward", band::forward_memory(kind)},
                                       {"attention_backward_queries", band::backward_queries_memory(kind)},
                                       {"attention_backward_keys", band::backward_keys_memory(kind)}}};
        });
    gpu_.start(functions[which], band::tiles_of(rows), heads, memory, parameters);
  }

  GpuFunctions gpu_;
};

class GpuRowKernels : public RowKernels {
 public:
  explicit GpuRowKernels(int device) : gpu_(device) {}

  void norm_forward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    norm::Arguments given = arguments;
    void* parameters[] = {&given};
    gpu_.start(norms(kind)[0], norm::forward_blocks(arguments.rows), 1, 0, parameters);
  }
  void norm_backward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    norm::Arguments given = arguments;
    int blocks = norm::backward_blocks(kind, arguments.rows);
    void* parameters[] = {&given, &blocks};
    gpu_.start(norms(kind)[1], blocks, 1, norm::backward_memory(kind), parameters);
  }
  void losses(const loss::Arguments& arguments) override {
    constexpr int kMemory = 2 * 4 * kBlockThreads / 32;  // two floats of each warp
    loss::Arguments given = arguments;
    void* parameters[] = {&given};
    const auto& functions = gpu_.of({kLosses}, [] {
      return GpuFunctions::Source{loss_program_text(), {{"losses", kMemory}}};
    });
    gpu_.start(functions[0], arguments.rows, 1, kMemory, parameters);
  }

 private:
  const std::vector<CUfunction>& norms(const norm::Kind& kind) {
    return gpu_.of({kNorm, kind.width, kind.centred}, [&] {
      return GpuFunctions::Source{program_text(kind),
                                  {{"norm_forward", 0}, {"norm_backward", norm::backward_memory(kind)}}};
    });
  }

  GpuFunctions gpu_;
};

}  // namespace

extern "C" BandKernels* xlm_make_band_kernels(int device) { return new GpuBandKernels(device); }
extern "C" RowKernels* xlm_make_row_kernels(int device) { return new GpuRowKernels(device); }

}  // namespace xlm
