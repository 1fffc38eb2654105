// One file with runs of a model and of a user's program: one sweep, one table, one front.
#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MixedSweep : public ProgramOfUser {
 protected:
  MixedSweep() {
    write_script("train.py",
                 "import json, os, sys\nloss = 3 + float(sys.argv[1]) + 0.01 * int(os.environ['XLM_SEED'])\n"
                 "with open(os.environ['XLM_METRICS'], 'a') as file:\n"
                 "    file.write(json.dumps({'costs': {'params': 500}}) + '\\n')\n"
                 "    file.write(json.dumps({'step': 10, 'split': 'test', 'loss': loss, 'bpc': loss}) + '\\n')\n");
    write_file(config(), run_config("data", kMixed));
  }

  static constexpr const char* kMixed =
      "program: {command: [python3, train.py, '{lr}'], folder: code, code: ['*'], name: theirs}\n"
      "options: {lr: 0.5}\n"
      "sweep:\n"
      "  grid: {model.type: [program, adaptive-span], options.lr: [0.25, 0.5], model.span: [8, 16], seed: [1, 2]}\n"
      "  when: {options.lr: {model.type: program}, model.span: {model.type: adaptive-span}}\n"
      "evaluate:\n"
      "  - {where: {model.span: 8}, eval.batch: 1}\n"
      "tables:\n"
      "  - table: Both\n"
      "    rows:\n"
      "      - {label: theirs, where: {model.type: program, options.lr: 0.25}}\n"
      "      - {label: ours, where: {model.type: adaptive-span, model.span: 8}}\n"
      "    columns: [{value: test.bpc, digits: 3}, {value: params}, {label: again, value: test.bpc@eval.batch=1}]\n"
      "figures: [{figure: Both, x: params, y: test.bpc, series: model.type, front: true}]\n"
      "claims:\n"
      "  - claim: ours is better\n"
      "    a: {model.type: adaptive-span, model.span: 8}\n"
      "    b: {model.type: program, options.lr: 0.25}\n"
      "    value: test.bpc\n";
};

TEST_F(MixedSweep, GoesFromItsPlanToATableAndAFront) {
  const ProgramResult plan = run({"sweep", "run.yaml", "--dry-run"});
  ASSERT_EQ(plan.code, kDone) << plan.err;
  EXPECT_THAT(plan.out,
              AllOf(HasSubstr("8 of 8 runs to do"), HasSubstr("theirs-abc-"), HasSubstr("adaptive-span-abc-")));
  EXPECT_FALSE(fs::exists(runs_));
  const ProgramResult check = run({"sweep", "run.yaml", "--check"});
  EXPECT_EQ(check.code, kDone) << check.out << check.err;
  const ProgramResult all = run({"sweep", "run.yaml"});
  ASSERT_EQ(all.code, kDone) << all.out << all.err;
  EXPECT_THAT(all.out, HasSubstr("8 of 8 runs done, 2 of 2 evaluations"));
  std::size_t programs = 0;
  for (const fs::path& folder : run_folders()) {
    const xlm::Run one = read_live_run(folder);
    EXPECT_EQ(one.status, RunStatus::kDone);
    const bool program = *one.param("model.type") == "program";
    programs += program ? 1 : 0;
    EXPECT_EQ(one.param("model.span") == nullptr, program);
    EXPECT_EQ(one.param("options.lr") == nullptr, !program);
    EXPECT_EQ(one.param("program.command") == nullptr, !program);
    EXPECT_EQ(one.param("train.batch") == nullptr, program);
  }
  EXPECT_EQ(programs, 4U);
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 8U);
  // Theirs: 3 + 0.25 + 0.01 · seed, of seeds 1 and 2.
  const ProgramResult table = run({"table", "run.yaml"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("theirs"), HasSubstr("3.265"), HasSubstr("ours"), HasSubstr("500")))
      << table.err;
  const ProgramResult front =
      run({"pareto", "--x", "params", "--y", "test.bpc", "--group-by", "model.type,options.lr,model.span", "--json"});
  ASSERT_EQ(front.code, kDone) << front.err;
  EXPECT_GE(Json::parse(front.out)["front"].size(), 2U) << front.out;
  const ProgramResult difference = run({"compare", "model.span=8", "options.lr=0.25", "--value", "test.bpc"});
  EXPECT_THAT(difference.out, HasSubstr("A − B = ")) << difference.err;
  EXPECT_THAT(run({"claims", "run.yaml"}).out, HasSubstr("ours is better"));
  const ProgramResult figure = run({"figure", "run.yaml", "--out", "both.html"});
  EXPECT_EQ(figure.code, kDone) << figure.err;
  EXPECT_THAT(read_file(folder_.path() / "both.html"), HasSubstr("program"));
  const ProgramResult page = run({"report", "run.yaml", "--out", "page.html"});
  EXPECT_EQ(page.code, kDone) << page.err;
  EXPECT_THAT(read_file(folder_.path() / "page.html"), AllOf(HasSubstr("theirs-abc-"), HasSubstr("3.265")));
}

TEST_F(MixedSweep, AModelsRunHasTheIdThatItHasInAFileOfItsOwn) {
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const std::size_t both = run_folders().size();
  write_file(folder_.path() / "ours.yaml", run_config("data", "sweep: {grid: {model.span: [8, 16], seed: [1, 2]}}\n"));
  EXPECT_THAT(run({"sweep", "ours.yaml"}).out, HasSubstr("4 of 4 runs done"));
  write_file(folder_.path() / "theirs.yaml",
             "data: {path: data}\n"
             "program: {command: [python3, train.py, '{lr}'], folder: code, code: ['*'], name: theirs}\n"
             "options: {lr: 0.5}\nsweep: {grid: {options.lr: [0.25, 0.5], seed: [1, 2]}}\n");
  EXPECT_THAT(run({"sweep", "theirs.yaml"}).out, HasSubstr("4 of 4 runs done"));
  EXPECT_EQ(run_folders().size(), both);
}

TEST_F(MixedSweep, OneOfThemIsTrainedByItsType) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone) << "the file's own type is that of a model";
  ASSERT_EQ(run({"train", "run.yaml", "model.type=program"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 2U);
  write_file(config(),
             "data: {path: data}\nmodel: {width: 8}\n"
             "program: {command: [python3, train.py, '1'], folder: code, code: ['*']}\n");
  const ProgramResult open = run({"train", "run.yaml"});
  EXPECT_EQ(open.code, kUsage);
  EXPECT_THAT(open.err, AllOf(HasSubstr("run.yaml:2"), HasSubstr("add model.type")));
  write_file(config(),
             "data: {path: data}\nmodel: {type: program, widht: 8}\n"
             "program: {command: [python3, train.py, '1'], folder: code, code: ['*']}\n");
  EXPECT_THAT(run({"train", "run.yaml"}).err, HasSubstr("unknown key 'widht'")) << "no model has it";
}

}  // namespace
}  // namespace xlm
