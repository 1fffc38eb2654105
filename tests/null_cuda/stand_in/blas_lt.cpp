// cuBLASLt: products with what comes after them.
#include <cublasLt.h>

#include <cstdlib>
#include <cstring>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/streams.h"

namespace null_cuda {
namespace {

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

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* matrix, cudaDataType /*type*/, uint64_t /*rows*/,
                                          uint64_t /*columns*/, int64_t /*leading*/) {
  return make_description(matrix);
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t matrix) { return release(matrix); }

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t /*matrix*/,
                                                cublasLtMatrixLayoutAttribute_t /*name*/, const void* /*value*/,
                                                size_t /*bytes*/) {
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
                              const void* /*a*/, cublasLtMatrixLayout_t /*of_a*/, const void* /*b*/,
                              cublasLtMatrixLayout_t /*of_b*/, const void* /*beta*/, const void* /*c*/,
                              cublasLtMatrixLayout_t /*of_c*/, void* /*d*/, cublasLtMatrixLayout_t /*of_d*/,
                              const cublasLtMatmulAlgo_t* /*algorithm*/, void* /*workspace*/, size_t /*bytes*/,
                              cudaStream_t stream) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (fails("blas")) return CUBLAS_STATUS_ALLOC_FAILED;
  enqueue(stream, "cublasLtMatmul");
  ++counts().products;
  started("cublasLtMatmul");
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
