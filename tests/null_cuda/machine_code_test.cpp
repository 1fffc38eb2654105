// The machine code of the attention kernels for every generation of GPUs may not grow: instructions, products of
// matrices, registers, what spills. machine_code.json has the numbers; `make null-cuda REFRESH=1` writes it again.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/command.h"
#include "core/kernels/gpu_program.h"
#include "tests/campaign_size.h"
#include "tests/needs.h"
#include "tests/null_cuda/budget.h"
#include "tests/null_cuda/machine_code.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Json numbers_of(const MachineCode& code) {
  return {{"instructions", code.instructions},
          {"matrix_instructions", code.matrix_instructions},
          {"local_accesses", code.local_accesses},
          {"registers", code.registers},
          {"spilled_bytes", code.spilled_bytes}};
}

/// By "forward 64 banded 9.0": the numbers of the kernels of a kind.
Json machine_code_of(const band::Kind& kind, int capability, const fs::path& disassembler) {
  const TemporaryFolder folder;
  const GpuProgram program = compile_program(kind, capability);
  write_file(folder.path() / "kernel.cubin", program.binary);
  const CommandResult result = run_command({disassembler.string(), (folder.path() / "kernel.cubin").string()});
  EXPECT_EQ(result.code, 0) << result.err;
  std::map<std::string, MachineCode> functions = count_instructions(result.out);
  read_compiler_log(program.log, functions);
  Json numbers = Json::object();
  for (const char* pass : {"forward", "backward_queries", "backward_keys"}) {
    const MachineCode& code = functions[std::string("attention_") + pass];
    EXPECT_GT(code.instructions, 1000);
    EXPECT_GT(code.matrix_instructions, 90);
    EXPECT_GT(code.registers, 32);
    numbers[fmt::format("{} {} {} {}.{}", pass, kind.width, kind.two_queries ? "relative" : "banded", capability / 10,
                        capability % 10)] = numbers_of(code);
  }
  return numbers;
}

TEST(NullCudaMachineCode, NoKernelGrows) {
  const std::optional<fs::path> disassembler = find_disassembler();
  if (!find_nvrtc()) GTEST_SKIP() << needs::kCuda;
  if (!disassembler) GTEST_SKIP() << needs::kDisassembler;
  std::vector<int> capabilities{86, 90};
  std::vector<int> widths{64};
  if (campaign_size(0, 1) == 1 || refreshes_budgets()) {
    capabilities = {80, 86, 89, 90, 100, 120};
    widths = {64, 96, 128};
  }
  Json measured = Json::object();
  for (const int capability : capabilities) {
    for (const int width : widths) {
      for (const bool relative : {false, true}) {
        const int shared_memory = shared_memory_of(capability);
        const band::Kind kind = band::fitting({width, relative, !relative, true}, shared_memory);
        if (band::block_memory(kind) > shared_memory) continue;
        measured.update(machine_code_of(kind, capability, *disassembler));
      }
    }
  }
  if (refreshes_budgets()) {
    write_budgets("machine_code", measured);
    GTEST_SKIP() << "machine_code.json is written: " << budget_file("machine_code");
  }
  // The compiler's result differs by a few instructions from one run to the next.
  EXPECT_THAT(worse_than_budgets(measured, read_budgets("machine_code"), {{"instructions", 0.01}}), IsEmpty());
}

// The numbers come from text that could change: each kind of line counts, and a function with one instruction more is
// worse than its budget.
TEST(NullCudaMachineCode, InstructionsAreCountedByFunction) {
  const std::string disassembled =
      "\t.section\t.text.attention_forward,\"ax\",@progbits\n"
      "attention_forward:\n"
      ".text.attention_forward:\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;\n"
      "        /*0010*/              @!P0 HMMA.16816.F32.BF16 R4, R8, R2, R4 ;\n"
      ".L_x_1:\n"
      "        /*0020*/                   STL [R1], R22                         (*\"SpillRefill\"*);\n"
      "        /*0030*/                   NOP;\n"
      "\t//----- .nv.info\n"
      ".text.other:\n"
      "        /*0000*/                   LDL R112, [R1] ;\n";
  std::map<std::string, MachineCode> functions = count_instructions(disassembled);
  read_compiler_log(
      "ptxas info    : Compiling entry function 'attention_forward' for 'sm_90'\n"
      "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 165 registers, used 1 barriers\n",
      functions);
  ASSERT_EQ(functions.size(), 2U);
  const Json forward = numbers_of(functions["attention_forward"]);
  EXPECT_EQ(forward, (Json{{"instructions", 3},
                           {"matrix_instructions", 1},
                           {"local_accesses", 1},
                           {"registers", 165},
                           {"spilled_bytes", 4}}));
  EXPECT_EQ(functions["other"].local_accesses, 1);
  Json grown = forward;
  grown["instructions"] = 4;
  EXPECT_THAT(worse_than_budgets({{"kernel", grown}}, {{"kernel", forward}}),
              ElementsAre("kernel: instructions is 4, and the budget 3"));
}

}  // namespace
}  // namespace xlm
