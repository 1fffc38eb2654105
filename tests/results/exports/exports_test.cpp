// Exports, as the real pandas, pyarrow and TensorBoard read them.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "results/exports/event_file.h"
#include "results/exports/run_tables.h"
#include "tests/needs.h"
#include "tests/readers.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Exports : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
    maker_.make({.id = "adaptive-span-text8-00000001", .experiment = "a \"b\", c", .seed = 1, .bpc = 1.25});
    maker_.make({.id = "adaptive-span-text8-00000002", .type = "fixed", .seed = 2, .bpc = 2.0 / 3, .state = "running"});
    maker_.evaluate({.id = "adaptive-span-text8-00000001"}, "test", 1.75, {{"data.name", "pg-19"}});
    store_.sync(maker_.runs());
  }

  std::string read(const std::string& script) { return read_with_python(folder_.path(), script); }

  std::vector<fs::path> write(const std::string& ending, const MakeExportWriter& make_writer) {
    RunTable runs(store_);
    return export_run_tables(runs, {0, 1}, folder_.path() / "out", ending, make_writer);
  }

  TemporaryFolder folder_;
  RunMaker maker_{folder_.path() / "runs"};
  Store store_ = Store::in_memory();
};

constexpr const char* kLook = R"(
import pandas as pd
def look(runs, series, evaluations):
    print(len(runs), len(series), len(evaluations))
    first, second = runs.iloc[0], runs.iloc[1]
    print(first['run_id'], first['experiment'], first['status'], second['status'])
    print(first['model.span'], first['model.span_type'], first['optimizer.lr'], first['test.bpc'], first['params'])
    print(pd.isna(second['test.bpc']), runs['seed'].dtype, pd.to_datetime(runs['created']).dt.year.tolist())
    bpc = series[(series.run_id == second['run_id']) & (series.name == 'bpc')]
    print(bpc.step.tolist(), [repr(float(v)) for v in bpc.value])
    at = evaluations[(evaluations['at'] == 'data.name=pg-19') & (evaluations.metric == 'bpc')]
    print(at.value.tolist(), at.split.tolist(), at.main.tolist())
)";

constexpr const char* kSeen =
    "2 6 26\n"
    "adaptive-span-text8-00000001 a \"b\", c done running\n"
    "256 adaptive 0.07 1.25 38100000.0\n"
    "True int64 [1970, 1970]\n"
    "[50] ['1.1666666666666665']\n"
    "[1.75] ['test'] [0]\n";

TEST_F(Exports, OfCsvAreReadByPandas) {
  EXPECT_EQ(write(".csv", csv_writer).size(), 3);
  EXPECT_EQ(read(std::string(kLook) + "look(*[pd.read_csv(f'out/{name}.csv') for name in "
                                      "('runs', 'series', 'evaluations')])\n"),
            kSeen);
}

TEST_F(Exports, OfParquetAreReadByPandasAndPyarrow) {
  EXPECT_EQ(write(".parquet", parquet_writer).size(), 3);
  EXPECT_EQ(read(std::string(kLook) + "look(*[pd.read_parquet(f'out/{name}.parquet') for name in "
                                      "('runs', 'series', 'evaluations')])\n"),
            kSeen);
  EXPECT_EQ(read("import pyarrow.parquet as pq\n"
                 "runs = pq.read_table('out/runs.parquet').schema\n"
                 "print(runs.field('created').type, runs.field('model.span').type, runs.field('test.bpc').type)\n"
                 "print(pq.read_table('out/series.parquet').schema.types)\n"),
            "timestamp[us, tz=UTC] int64 double\n"
            "[DataType(string), DataType(string), DataType(int64), DataType(double)]\n");
  EXPECT_THAT(read("import os\nprint(sorted(os.listdir('out')))\n"),
              HasSubstr("['evaluations.parquet', 'runs.parquet', 'series.parquet']"));
}

constexpr const char* kTypes = R"(
import pandas as pd
def look(runs):
    print([str(runs[name].dtype) for name in ('train.tf32', 'seed', 'model.span', 'optimizer.lr', 'params')])
    print(runs['train.tf32'].tolist(), runs[runs['train.tf32']].shape[0])
)";

TEST_F(Exports, KeepTypes) {
  write(".csv", csv_writer);
  write(".parquet", parquet_writer);
  constexpr const char* kExpected = "['bool', 'int64', 'int64', 'float64', 'float64']\n[False, False] 0\n";
  EXPECT_EQ(read(std::string(kTypes) + "look(pd.read_parquet('out/runs.parquet'))\n"), kExpected);
  EXPECT_EQ(read(std::string(kTypes) + "look(pd.read_csv('out/runs.csv'))\n"), kExpected);
  EXPECT_EQ(read("import pyarrow.parquet as pq\n"
                 "print(pq.read_table('out/runs.parquet').schema.field('train.tf32').type)\n"),
            "bool\n");
}

TEST_F(Exports, OfMixedAndMissingValuesHaveTheTypeOfAllOfThem) {
  const std::vector<ExportColumn> columns{
      {"flag", ExportType::kBoolean}, {"rate", ExportType::kReal}, {"name", ExportType::kText}};
  for (const bool parquet : {false, true}) {
    const auto writer =
        parquet ? parquet_writer(folder_.path() / "t.parquet", columns) : csv_writer(folder_.path() / "t.csv", columns);
    writer->add({true, 1.0, Value("=1+1")});
    writer->add({Value(), 1e300, Value(true)});
    writer->add({false, std::int64_t{3}, Value("-x,\"y\"")});
    writer->finish();
    EXPECT_EQ(
        read(std::string("import pandas as pd\nt = pd.read_") + (parquet ? "parquet('t.parquet')" : "csv('t.csv')") +
             "\nprint(t.flag.tolist(), t.rate.dtype, t.rate.tolist(), t.name.tolist())\n"),
        std::string(parquet ? "[True, None, False]" : "[True, nan, False]") + " float64 [1.0, 1e+300, 3.0] ['=1+1', " +
            "'true'" + ", '-x,\"y\"']\n");
  }
}

TEST_F(Exports, OfManyRowsHaveSeveralGroups) {
  const auto writer = parquet_writer(folder_.path() / "many.parquet", {{"number", ExportType::kInteger}});
  for (std::int64_t i = 0; i < 100000; ++i) writer->add({i % 7 == 0 ? Value() : Value(i)});
  EXPECT_FALSE(fs::exists(folder_.path() / "many.parquet")) << "whole or not at all";
  writer->finish();
  EXPECT_EQ(
      read("import pyarrow.parquet as pq\nfile = pq.ParquetFile('many.parquet')\n"
           "column = file.read().column('number')\n"
           "print(file.num_row_groups, column.null_count, sum(v for v in column.to_pylist() if v is not None))\n"),
      "2 14286 4285685715\n");
}

TEST(JsonLines, HoldTypesAndMissingValues) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "t.jsonl";
  const auto writer = json_lines_writer(file, {{"flag", ExportType::kBoolean},
                                               {"count", ExportType::kInteger},
                                               {"rate", ExportType::kReal},
                                               {"a \"name\"", ExportType::kText},
                                               {"created", ExportType::kTime}});
  writer->add({true, std::int64_t{9007199254740993}, 0.1, Value("x\n\"y\""), 1.75e9 + 0.25});
  writer->add({Value(), Value(), Value(), Value(), Value()});
  writer->add({false, std::int64_t{-1}, std::numeric_limits<double>::quiet_NaN(), Value(true), std::int64_t{0}});
  writer->add({false, std::int64_t{0}, std::int64_t{3}, Value(1.5), std::numeric_limits<double>::infinity()});
  writer->add({false, std::int64_t{0}, -std::numeric_limits<double>::infinity(), Value(), Value()});
  EXPECT_FALSE(fs::exists(file)) << "whole or not at all";
  writer->finish();
  EXPECT_EQ(
      read_file(file),
      R"({"flag": true, "count": 9007199254740993, "rate": 0.1, "a \"name\"": "x\n\"y\"", "created": "2025-06-15T15:06:40.250000Z"}
{"flag": null, "count": null, "rate": null, "a \"name\"": null, "created": null}
{"flag": false, "count": -1, "rate": null, "a \"name\"": "true", "created": "1970-01-01T00:00:00.000000Z"}
{"flag": false, "count": 0, "rate": 3.0, "a \"name\"": "1.5", "created": null}
{"flag": false, "count": 0, "rate": "-inf", "a \"name\"": null, "created": null}
)");
}

TEST(Csv, KeepsFractionsOfSeconds) {
  const TemporaryFolder folder;
  const auto writer = csv_writer(folder.path() / "t.csv", {{"created", ExportType::kTime}});
  writer->add({1.75e9 + 0.25});
  writer->finish();
  EXPECT_EQ(read_file(folder.path() / "t.csv"), "created\n2025-06-15T15:06:40.250000Z\n");
}

constexpr const char* kScalars = R"(
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
import sys
def show(folder, *tags):
    events = EventAccumulator(folder)
    events.Reload()
    print(sorted(events.Tags()['scalars']))
    for tag in tags:
        print(tag, [(e.step, e.wall_time, round(e.value, 6)) for e in events.Scalars(tag)])
    print(sorted(events.Tags()['tensors']))
    return events
)";

TEST_F(Exports, OfEventsAreOneFileAndWhatAKilledExportLeftGoes) {
  const std::string id = "adaptive-span-text8-00000001";
  const fs::path left = folder_.path() / "events" / id / ".unfinished.0123abcd";
  create_folders(left);
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const fs::path file = export_events(read_run(maker_.folder(id)), folder_.path() / "events");
  ASSERT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
  EXPECT_EQ(fs::directory_iterator(file.parent_path())->path(), file);
}

TEST_F(Exports, OfEventsAreReadByTensorboard) {
  maker_.evaluate({.id = "adaptive-span-text8-00000001"}, "train", 1.125, {});
  for (const char* id : {"adaptive-span-text8-00000001", "adaptive-span-text8-00000002"}) {
    export_events(read_run(maker_.folder(id)), folder_.path() / "events");
    export_events(read_run(maker_.folder(id)), folder_.path() / "events");  // in place of the first
  }
  const std::string seen = read(std::string(kScalars) +
                                "events = show('events/adaptive-span-text8-00000001', 'train/bpc', 'valid/bpc', "
                                "'test@data.name=pg-19/bpc', 'train@evaluated/bpc')\n"
                                "print(events.Tensors('configuration')[0].tensor_proto.string_val[0].decode())\n");
  EXPECT_THAT(seen, HasSubstr("train/bpc [(50, 1002.0, 1.75), (100, 1004.0, 1.25)]"));
  EXPECT_THAT(seen, HasSubstr("valid/bpc [(50, 1002.0, 1.45), (100, 1004.0, 1.15)]"));
  EXPECT_THAT(seen, HasSubstr("test@data.name=pg-19/bpc [(100, 1004.0, 1.75)]"));
  EXPECT_THAT(seen, HasSubstr("train@evaluated/bpc [(100, 1004.0, 1.125)]"));
  EXPECT_THAT(seen, HasSubstr("['configuration']"));
  EXPECT_THAT(seen, HasSubstr("```yaml\nexperiment: a \"b\", c"));
}

TEST_F(Exports, OfATrainingThatBeganAgainShowEachStepOnce) {
  const fs::path folder = folder_.path() / "tensorboard";
  {
    EventFile first(folder / event_file_name(1000, 1), 1000);
    first.restart(1, 1000);
    for (int step = 1; step <= 4; ++step) first.numbers(step, 1000 + step, {{"train/loss", step}});
  }
  EventFile second(folder / event_file_name(1000, 2), 1010);
  second.restart(3, 1010);
  second.numbers(3, 1011, {{"train/loss", 30}});
  EXPECT_THAT(read(std::string(kScalars) + "show('tensorboard', 'train/loss')\n"),
              HasSubstr("train/loss [(1, 1001.0, 1.0), (2, 1002.0, 2.0), (3, 1011.0, 30.0)]"))
      << "while the file is still written";
}

TEST(EventFiles, ThatCannotBeWrittenAreAnError) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "");
  EXPECT_THROW(EventFile(folder.path() / "file" / "events", 0), Error);
}

}  // namespace
}  // namespace xlm
