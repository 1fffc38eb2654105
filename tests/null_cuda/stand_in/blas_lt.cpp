// cuBLASLt: products with what comes after them.
#include <cublasLt.h>

#include <cstdlib>
#include <cstring>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/roofline.h"
#include "tests/null_cuda/stand_in/streams.h"

namespace null_cuda {
namespace {

/// What is needed of a matrix, in the place of the library's own description of it.
struct Layout {
  cudaDataType type;
  double rows, columns, batch;
};

static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));

const Layout& layout_of(cublasLtMatrixLayout_t matrix) { return *reinterpret_cast<const Layout*>(matrix); }

template <class Description>
cublasStatus_t make_description(Description** made) {
  *made = static_cast<Description*>(std::calloc(1, sizeof(Description)));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t release(void* description) {
  std::free(description);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

size_t cublasLtGetVersion() { return 130100; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t /*compute*/,
                                        cudaDataType_t /*scale*/) {
  return make_description(description);
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) { return release(description); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t /*description*/,
                                              cublasLtMatmulDescAttributes_t /*name*/, const void* /*value*/,
                                              size_t /*bytes*/) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return make_description(preference);
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return release(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t /*preference*/,
                                                    cublasLtMatmulPreferenceAttributes_t /*name*/,
                                                    const void* /*value*/, size_t /*bytes*/) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matrix, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t /*leading*/) {
  make_description(matrix);
  const Layout layout{type, static_cast<double>(rows), static_cast<double>(columns), 1};
  std::memcpy(*matrix, &layout, sizeof layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix) { return release(matrix); }

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t matrix, cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, size_t bytes) {
  if (name != CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT || bytes != sizeof(int)) return CUBLAS_STATUS_SUCCESS;
  int batch = 1;
  std::memcpy(&batch, value, sizeof batch);
  reinterpret_cast<Layout*>(matrix)->batch = batch;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t /*description*/,
                                              cublasLtMatrixLayout_t /*a*/, cublasLtMatrixLayout_t /*b*/,
                                              cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t /*d*/,
                                              cublasLtMatmulPreference_t /*preference*/, int /*most*/,
                                              cublasLtMatmulHeuristicResult_t results[], int* count) {
  std::memset(results, 0, sizeof results[0]);
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*handle*/, cublasLtMatmulDesc_t /*description*/, const void* /*alpha*/,
                              const void* /*a*/, cublasLtMatrixLayout_t of_a, const void* /*b*/,
                              cublasLtMatrixLayout_t /*of_b*/, const void* /*beta*/, const void* /*c*/,
                              cublasLtMatrixLayout_t /*of_c*/, void* /*d*/, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t* /*algorithm*/, void* /*workspace*/, size_t /*bytes*/,
                              cudaStream_t stream) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (fails("blas")) return CUBLAS_STATUS_ALLOC_FAILED;
  const Layout& a = layout_of(of_a);
  const Layout& d = layout_of(of_d);
  enqueue(stream, "cublasLtMatmul");
  ++counts().products;
  started("cublasLtMatmul");
  const int bytes_of_element = a.type == CUDA_R_16BF || a.type == CUDA_R_16F ? 2 : 4;
  model_product(d.rows, d.columns, a.rows * a.columns / d.rows, d.batch, bytes_of_element);  // a is [m, k] or [k, m]
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
