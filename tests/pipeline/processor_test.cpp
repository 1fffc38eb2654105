// The program as on other processors, which environment variables simulate: the results are the same within rounding,
// whichever products its kernels use.
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

/// An environment variable that is set in its scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

class Processor : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 900; ++i) text += "line " + std::to_string(i * i % 1009) + " of a text that says little\n";
    write_file(folder_.path() / "corpus.txt", text);
    ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "data"}).code, 0);
  }

  ProgramResult xlm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait();
  }

  /// The test loss of 20 steps, and the program's messages.
  std::pair<double, std::string> trained(const std::string& model, const std::string& runs,
                                         const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"train", "run.yaml", "--runs", runs, "train.threads=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    write_file(folder_.path() / "run.yaml",
               "data: {path: data}\nmodel: " + model +
                   "\noptimizer: {warmup_steps: 5}\n"
                   "train: {steps: 20, batch: 4, block: 32, eval_every: 20}\ndevice: cpu\n");
    const ProgramResult done = xlm(arguments);
    EXPECT_EQ(done.code, 0) << done.err;
    const ProgramResult list = xlm({"runs", "ls", "--runs", runs, "--format", "csv", "--columns", "test.loss"});
    return {std::stod(list.out.substr(list.out.find(',', list.out.find('\n')) + 1)), done.err};  // of the only run
  }

  TemporaryFolder folder_;
};

constexpr const char* kSpans =
    "{type: adaptive-span, width: 32, heads: 2, feed_forward: 64, layers: 2, span: 48, span_ramp: 8}";
constexpr const char* kHourglass =
    "{type: hourglass, width: 32, heads: 2, feed_forward: 64, layers: [1, 2, 1], boundaries: {type: whitespace}}";

TEST_F(Processor, TheKernelsItTrainsWithAreNamedWithTheReasons) {
  const Variable onednn("ONEDNN_MAX_CPU_ISA", "AVX2");
  const Variable products("XLM_KERNELS", "products=own");
  const ProgramResult said = xlm({"--version", "--verbose"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, HasSubstr("libtorch"));
  EXPECT_THAT(said.out, testing::ContainsRegex("kernels in float32\n +products in kernels +blocks in registers"));
  EXPECT_THAT(said.out, HasSubstr("not float32 with bfloat16's values: no product in bfloat16 is asked for"));
  EXPECT_THAT(said.out,
              testing::ContainsRegex("kernels in bfloat16\n(.*\n)* +linear layers +float32 with bfloat16's values"));
  EXPECT_THAT(xlm({"--version"}).out, testing::Not(HasSubstr("libtorch")));
}

TEST_F(Processor, ItsProductsAreNamedAndCanBeChosen) {
  for (const std::string products : {"own", "libtorch"}) {
    const Variable chosen("XLM_KERNELS", "products=" + products);
    const ProgramResult said = xlm({"--version", "--verbose"});
    EXPECT_EQ(said.code, 0);
    EXPECT_THAT(said.out, testing::ContainsRegex("cpu_products +" + products + "\n"));
    EXPECT_THAT(said.out, HasSubstr("libtorch"));
  }
  const Variable chosen("XLM_KERNELS", "cross-entropy=plain,linear=libtorch");
  EXPECT_THAT(xlm({"--version", "--verbose"}).out,
              testing::ContainsRegex("cross-entropy +libtorch's, all logits at once\n.*XLM_KERNELS requests another"));
  EXPECT_THAT(xlm({"--version"}).out, testing::Not(HasSubstr("libtorch")));
  const auto refused = [&](const std::string& requests) {
    const Variable wrong("XLM_KERNELS", requests);
    const ProgramResult result = xlm({"--version", "--verbose"});
    EXPECT_EQ(result.code, 2) << requests;
    return result.err;
  };
  EXPECT_THAT(refused("products=mine"), HasSubstr("products has no version \"mine\"\nits versions are libtorch, own"));
  EXPECT_THAT(refused("product=own"), HasSubstr("XLM_KERNELS is not a list of OPERATION=VERSION: product=own"));
  EXPECT_THAT(refused("own"), HasSubstr("operations are products, linear"));
}

TEST_F(Processor, BothKindsOfProductsTrainAlike) {
  for (const std::string model : {kSpans, kHourglass}) {
    std::vector<double> losses;
    for (const std::string products : {"own", "libtorch"}) {
      const Variable chosen("XLM_KERNELS", "products=" + products);
      losses.push_back(trained(model, products + std::to_string(model.size())).first);
    }
    EXPECT_NEAR(losses[0], losses[1], 1e-4) << model;  // 20 steps of float32, whose sums round in other orders
  }
}

TEST_F(Processor, Bfloat16TrainsCloseToFloat32WithANoteIfItIsNotMultiplied) {
  const Variable onednn("ONEDNN_MAX_CPU_ISA", "AVX2");  // no products of bfloat16, even if the processor has them
  const auto [wide, nothing] = trained(kSpans, "wide");
  const auto [rounded, said] = trained(kSpans, "rounded", {"train.precision=bfloat16"});
  EXPECT_THAT(said, HasSubstr("this processor multiplies no bfloat16"));
  EXPECT_THAT(nothing, testing::Not(HasSubstr("bfloat16")));
  EXPECT_NE(rounded, wide);
  EXPECT_NEAR(rounded, wide, 0.02);
}

TEST_F(Processor, ALaterEvaluationComputesAsTheRunDid) {
  const double own = trained(kSpans, "runs", {"train.precision=bfloat16"}).first;
  const auto evaluated = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"eval", "adaptive-span", "device=cpu", "train.threads=1", "--json"});
    const ProgramResult result = xlm(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, "eval").at("loss").get<double>();
  };
  EXPECT_DOUBLE_EQ(evaluated({}), own);
  EXPECT_NE(evaluated({"train.precision=float32"}), own);
}

}  // namespace
}  // namespace xlm
