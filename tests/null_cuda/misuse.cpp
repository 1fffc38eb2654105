// misuse RULE: breaks one of CUDA's rules, for the test that the stand-in notices it. Without a GPU's stand-in in front
// of CUDA this program does harm to nothing, because there is no GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

void kernel() {}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithPriority(&stream, 0, 0);
  return stream;
}

char* new_memory(std::size_t bytes) {
  void* place = nullptr;
  cudaMalloc(&place, bytes);
  return static_cast<char*>(place);
}

void launch(cudaStream_t stream, dim3 grid, dim3 block) {
  void* arguments[] = {nullptr};
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, 0, stream);
}

/// Does something while a stream is recorded. Returns whether the recording was refused at its end.
bool record(const std::function<void(cudaStream_t)>& work) {
  cudaStream_t stream = new_stream();
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  work(stream);
  cudaGraph_t graph = nullptr;
  return cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated;
}

const std::map<std::string, std::function<void()>>& misuses() {
  static const std::map<std::string, std::function<void()>> all{
      {"nothing",
       [] {
         char* memory = new_memory(1 << 20);
         if (memory == nullptr) return void(std::puts("no memory"));
         std::vector<char> host(1 << 20, 'x');
         cudaMemcpy(memory, host.data(), host.size(), cudaMemcpyHostToDevice);
         std::vector<char> back(host.size());
         cudaMemcpy(back.data(), memory, back.size(), cudaMemcpyDeviceToHost);
         launch(nullptr, dim3(70000, 65535, 1), dim3(32, 32, 1));
         const bool refused = record([](cudaStream_t stream) { launch(stream, dim3(1), dim3(128)); });
         cudaFree(memory);
         std::puts(back == host && !refused ? "as expected" : "unexpected");
       }},
      {"wait", [] { std::puts(record([](auto) { cudaDeviceSynchronize(); }) ? "refused" : "recorded"); }},
      {"wait-for-stream", [] { record([](cudaStream_t stream) { cudaStreamSynchronize(stream); }); }},
      {"ask-stream", [] { record([](cudaStream_t stream) { cudaStreamQuery(stream); }); }},
      {"ask-event",
       [] {
         cudaEvent_t event = nullptr;
         cudaEventCreateWithFlags(&event, 0);
         record([event](auto) { cudaEventQuery(event); });
       }},
      {"allocate", [] { record([](auto) { new_memory(4096); }); }},
      {"free",
       [] {
         char* memory = new_memory(4096);
         record([memory](auto) { cudaFree(memory); });
       }},
      {"copy",
       [] {
         char* memory = new_memory(4096);
         char host[16] = {};
         record(
             [&](cudaStream_t stream) { cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, stream); });
       }},
      {"other-stream", [] { record([](auto) { launch(new_stream(), dim3(1), dim3(32)); }); }},
      {"grid", [] { launch(nullptr, dim3(1, 70000, 1), dim3(32)); }},
      {"no-grid", [] { launch(nullptr, dim3(0), dim3(32)); }},
      {"block", [] { launch(nullptr, dim3(1), dim3(2048)); }},
      {"shared",
       [] {
         cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                              300 << 10);
       }},
      {"beyond",
       [] {
         char* memory = new_memory(4096);
         std::vector<char> host(8192);
         cudaMemcpy(memory, host.data(), host.size(), cudaMemcpyHostToDevice);
       }},
      {"fill-beyond", [] { cudaMemset(new_memory(4096), 0, 8192); }},
      {"free-twice",
       [] {
         char* memory = new_memory(4096);
         cudaFree(memory);
         cudaFree(memory);
       }},
      {"unknown",
       [] {
         cudaStream_t stream = nullptr;
         cudaStreamCreate(&stream);
       }},
      {"read", [] { (void)*static_cast<volatile char*>(new_memory(4096)); }},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = misuses().find(argc == 2 ? argv[1] : "");
  if (found == misuses().end()) {
    std::fputs("usage: misuse RULE\n", stderr);
    return 2;
  }
  found->second();
  return 0;
}
