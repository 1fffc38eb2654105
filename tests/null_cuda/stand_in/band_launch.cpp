// Starts of the program's attention kernels, run by fibers.
#include "tests/null_cuda/stand_in/band_launch.h"

#include <cmath>
#include <cstdio>
#include <type_traits>
#include <vector>

#include <unistd.h>

#include "tests/core/cuda/fiber_blocks.h"
#include "tests/null_cuda/stand_in/band_record.h"
#include "tests/null_cuda/stand_in/device_memory.h"
#include "tests/null_cuda/stand_in/generations.h"
#include "tests/null_cuda/stand_in/ledger.h"

namespace null_cuda {
namespace {

using xlm::band::Arguments;
using xlm::band::Half;
using xlm::band::Kind;
using xlm::band::Rows;

/// The sizes of a tensor of the kernels.
struct Sizes {
  int batch, heads, rows, width;
};

/// Uniform in [-1, 1), from an address: the same each time that it is filled.
float number_at(const void* place) {
  const std::uint64_t bits = xlm::random_bits(1, 0, reinterpret_cast<std::uintptr_t>(place));
  return static_cast<float>(2 * xlm::random_unit(bits) - 1);
}

float value_of(float x) { return x; }
float value_of(Half x) { return xlm::band::to_float(x); }
void set_value(float* to, float x) { *to = x; }
void set_value(Half* to, float x) { *to = xlm::band::to_half(x); }

/// Calls visit(pointer to each element), row by row.
template <class T, class Visit>
void for_each_element(const Rows<T>& tensor, const Sizes& sizes, const Visit& visit) {
  if (tensor.data == nullptr) return;
  for (int b = 0; b < sizes.batch; ++b) {
    for (int head = 0; head < sizes.heads; ++head) {
      for (int row = 0; row < sizes.rows; ++row) {
        T* first = tensor.data + b * tensor.batch + head * tensor.head + row * tensor.row;
        if (!device_memory().contains(first, static_cast<std::size_t>(sizes.width) * sizeof(T))) {
          violation("an attention kernel gets a row that lies in no allocation");
          return;
        }
        for (int i = 0; i < sizes.width; ++i) visit(first + i);
      }
    }
  }
}

/// Fills a tensor with numbers of [-1, 1), or of [0, scale) if that is not 0.
template <class T>
void fill(const Rows<T>& tensor, const Sizes& sizes, float scale = 0) {
  using Value = std::remove_const_t<T>;
  for_each_element(tensor, sizes, [&](T* place) {
    const float number = number_at(place);
    set_value(const_cast<Value*>(place), scale > 0 ? (number + 1) / 2 * scale : number);
  });
}

template <class T>
void write(std::FILE* file, const Rows<T>& tensor, const Sizes& sizes) {
  std::vector<float> values;
  for_each_element(tensor, sizes, [&](T* place) { values.push_back(value_of(*place)); });
  const std::uint64_t count = values.size();
  std::fwrite(&count, sizeof count, 1, file);
  std::fwrite(values.data(), sizeof(float), values.size(), file);
}

/// A contiguous float tensor [B, n, rows, width].
Rows<float> contiguous(float* data, const Sizes& sizes) {
  const long long row = sizes.width;
  const long long head = row * sizes.rows;
  return {data, head * sizes.heads, head, row};
}

std::FILE* next_file(const std::string& folder, const char* pass) {
  static int number = 0;
  char name[64];
  std::snprintf(name, sizeof name, "/%d-%05d-%s", static_cast<int>(::getpid()), number++, pass);
  return std::fopen((folder + name).c_str(), "wb");
}

}  // namespace

Kind kind_of(const Arguments& arguments) {
  const float scale = arguments.scale;  // 1 / √d
  return xlm::band::fitting({.width = static_cast<int>(std::lround(1 / (scale * scale))),
                             .two_queries = arguments.position_query.data != nullptr,
                             .masked = arguments.span.data != nullptr,
                             .dropped = arguments.drop_threshold > 0},
                            generation().shared_of_block);
}

const char* name_of(BandPass pass) {
  if (pass == BandPass::kForward) return "forward";
  return pass == BandPass::kBackwardQueries ? "backward_queries" : "backward_keys";
}

int tiles_of(BandPass pass, const Arguments& arguments) {
  return xlm::band::tiles_of(pass == BandPass::kBackwardKeys ? arguments.keys : arguments.queries);
}

int shared_memory_of(BandPass pass, const Kind& kind) {
  if (pass == BandPass::kForward) return xlm::band::forward_memory(kind);
  return pass == BandPass::kBackwardQueries ? xlm::band::backward_queries_memory(kind)
                                            : xlm::band::backward_keys_memory(kind);
}

void run_band_kernel(BandPass pass, const Arguments& a, int heads, const std::string& folder) {
  const bool forward = pass == BandPass::kForward;
  const Kind kind = kind_of(a);
  const int batch = heads / a.heads;
  const Sizes of_queries{batch, a.heads, a.queries, kind.width};
  const Sizes of_keys{batch, a.heads, a.keys, kind.width};
  const Sizes of_positions{1, a.heads, a.band, kind.width};
  const Sizes of_spans{batch, a.heads, a.queries, 1};
  fill(a.query, of_queries);
  fill(a.position_query, of_queries);
  fill(a.key, of_keys);
  fill(a.value, of_keys);
  fill(a.position, of_positions);
  fill(a.span, of_spans, static_cast<float>(a.band));
  if (!forward) fill(a.d_out, of_queries);
  // What the kernel adds to begins as zero: libtorch's kernel for that was not run either.
  if (pass == BandPass::kBackwardQueries) {
    for_each_element(a.d_position, of_positions, [](float* place) { *place = 0; });
  }

  xlm::band::FiberBlocks blocks(/*order=*/1);
  const int tiles = tiles_of(pass, a);
  if (forward) {
    blocks.run_forward(kind, a, tiles, heads);
  } else if (pass == BandPass::kBackwardQueries) {
    return blocks.run_backward_queries(kind, a, tiles, heads);
  } else {
    blocks.run_backward_keys(kind, a, tiles, heads);
  }

  std::FILE* file = next_file(folder, forward ? "forward" : "backward");
  if (file == nullptr) return;
  RecordHeader header{};
  header.forward = forward ? 1 : 0;
  header.batch = batch;
  header.heads = a.heads;
  header.queries = a.queries;
  header.keys = a.keys;
  header.band = a.band;
  header.width = kind.width;
  header.key_offset = a.key_offset;
  header.two_queries = kind.two_queries ? 1 : 0;
  header.masked = kind.masked ? 1 : 0;
  header.dropped = kind.dropped ? 1 : 0;
  header.drop_by_key = a.drop_by_key ? 1 : 0;
  header.one_position = a.position.head == 0 ? 1 : 0;
  header.scale = a.scale;
  header.ramp = a.ramp;
  header.drop_scale = a.drop_scale;
  header.drop_threshold = a.drop_threshold;
  header.seed = a.seed_place != nullptr ? *a.seed_place : a.seed;
  std::fwrite(&header, sizeof header, 1, file);
  write(file, a.query, of_queries);
  write(file, a.position_query, of_queries);
  write(file, a.key, of_keys);
  write(file, a.value, of_keys);
  write(file, a.position, of_positions);
  write(file, a.span, of_spans);
  write(file, forward ? Rows<const Half>{} : a.d_out, of_queries);
  if (forward) {
    write(file, a.out, of_queries);
  } else {
    write(file, a.d_query, of_queries);
    write(file, a.d_position_query, of_queries);
    write(file, a.d_key, of_keys);
    write(file, a.d_value, of_keys);
    write(file, a.d_position, of_positions);
    write(file, contiguous(a.d_span, of_spans), of_spans);
  }
  std::fclose(file);
}

}  // namespace null_cuda
