// xlm prepare-data: output, messages and exit codes.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "datasets/prepared/prepared.h"
#include "tests/datasets/input/http_server.h"
#include "tests/experiments/program.h"
#include "tests/real_texts.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PrepareData : public ::testing::Test {
 protected:
  /// Runs in the temporary folder.
  ProgramResult run(const std::string& arguments) const {
    return shell(folder_.path(), fmt::format("'{}' prepare-data {}", XLM_BINARY, arguments));
  }
  void file(const std::string& name, const std::string& content) const { write_file(folder_.path() / name, content); }

  TemporaryFolder folder_;
};

TEST_F(PrepareData, PrintsASummary) {
  file("a.txt", "Some text of my own, long enough for three splits.");
  const ProgramResult outcome = run("text --from a.txt --out data/a");
  EXPECT_EQ(outcome.code, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("data/a is ready: a, "));
  EXPECT_THAT(outcome.out, HasSubstr("train"));
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(run("text --from a.txt --out data/a").out, HasSubstr("data/a exists already"));
}

TEST_F(PrepareData, UsersTextsAreDistinguishedByName) {
  file("a.txt", "Some text of my own, long enough for three splits.");
  EXPECT_THAT(run("text --from a.txt --out data/a --name letters").out, HasSubstr("data/a is ready: letters, "));
  EXPECT_EQ(open_prepared(folder_.path() / "data/a").dataset, "letters");
  EXPECT_EQ(summarize_prepared(folder_.path() / "data/a").dataset, "letters");
  EXPECT_THAT(run("text --from a.txt --out data/a --name letters").out, HasSubstr("data/a exists already"));
  EXPECT_THAT(run("text --from a.txt --out data/a").out, HasSubstr("data/a exists already"));
  EXPECT_THAT(run("text --from a.txt --out data/a --name other").err, HasSubstr("different: name"));
  EXPECT_EQ(run("text --from a.txt --out data/b --name 'My letters'").code, kUsage);
  EXPECT_THAT(run("text --from a.txt --out 'data/My letters.2/'").out, HasSubstr("is ready: my-letters-2, "));
  EXPECT_THAT(run("text --from a.txt --out data/écrits").out, HasSubstr("is ready: crits, "));
  EXPECT_THAT(run("text --from a.txt --out data/тексты").out, HasSubstr("is ready: text, "));
}

// meta.json writes such names with U+FFFD and keeps two of them distinct.
TEST_F(PrepareData, FilesWithNamesThatAreNoUtf8AreSources) {
  for (const char* name : {"caf\xE9.txt", "caf\xE8.txt"}) file(name, "some text that is long enough to be divided");
  const std::string command = "text --from caf\xE9.txt --from caf\xE8.txt --out d --split 80%,10%,10%";
  const ProgramResult made = run(command);
  EXPECT_EQ(made.code, kDone) << made.err;
  EXPECT_EQ(open_prepared(folder_.path() / "d").meta["sources"].size(), 2U);
  EXPECT_THAT(run(command).out, HasSubstr("exists already"));
}

TEST_F(PrepareData, PrintsJsonAlone) {
  file("a.txt", "a b\xFF c");
  const ProgramResult outcome = run("text --from a.txt --out d --json --split 4,1,1");
  const Json json = parse_json(outcome.out, "output");
  EXPECT_EQ(json["splits"]["train"]["tokens"], 4);
  EXPECT_EQ(json["splits"]["train"]["bytes"], 6);
  EXPECT_EQ(json["symbols"], 5);
  EXPECT_EQ(json["replaced_characters"], 1);
  EXPECT_EQ(json["was_there"], false);
  EXPECT_THAT(outcome.err, HasSubstr("note: 1 piece"));
  EXPECT_EQ(run("text --from a.txt --out e --json --split 4,1,1 --quiet").err, "");
}

TEST_F(PrepareData, HelpNamesTheDatasets) {
  const ProgramResult outcome = run("--help");
  EXPECT_EQ(outcome.code, kDone);
  for (const char* word : {"text8", "enwik8", "wikitext-103", "pg-19", "--bpe", "--lists", "--keep-text", "Examples:"})
    EXPECT_THAT(outcome.out, HasSubstr(word));
}

TEST_F(PrepareData, FetchesTheEncodingThatIsNotNamedOfRealTexts) {
  XLM_NEEDS_REAL_TEXT("gpt2");
  const fs::path encoding = real_texts() / "gpt2";
  const HttpServer server([&](const HttpServer::Request& request) {
    return HttpServer::part_of(read_file(encoding / fs::path(request.path).filename()), request);
  });
  file("a.txt", "Some text of my own, long enough for three splits.");
  const std::string command = "text --unit bpe --from a.txt --download --mirror " + server.url() + " --out ";
  const ProgramResult outcome = run(command + "d");
  EXPECT_EQ(outcome.code, kDone) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("50257 symbols (byte pairs)"));
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.requests().front().path, "/openai-community/gpt2/resolve/main/vocab.json");
  EXPECT_EQ(run(command + "e").code, kDone);
  EXPECT_EQ(server.requests().size(), 2U);  // the files exist
  EXPECT_THAT(run("text --unit bpe --from a.txt --out f").err, HasSubstr("fetch them with --download"));
}

TEST_F(PrepareData, TheAdviceToFetchAFileAgainDoesIt) {
  const std::string half = "PK\x03\x04 is the beginning of a zip file alone";
  const HttpServer server([&](const HttpServer::Request&) { return HttpServer::Answer{.body = half}; });
  const std::string command = "text8 --download --out d --mirror " + server.url();
  const std::string complaint = run(command).err;
  const std::string advice = "fetch the file again: ";
  ASSERT_THAT(complaint, HasSubstr(advice + "rm raw/text8/text8.zip, then run the same command again\n"));
  EXPECT_EQ(run(command).err, complaint);
  EXPECT_EQ(server.requests().size(), 1U) << "the file exists";
  const std::size_t place = complaint.find(advice) + advice.size();
  ASSERT_EQ(shell(folder_.path(), complaint.substr(place, complaint.find(',', place) - place)).code, 0);
  run(command);
  EXPECT_EQ(server.requests().size(), 2U);
  file("half.zip", half);
  EXPECT_THAT(run("text8 --from half.zip --out d").err, testing::EndsWith("fetch the file again\n"));
}

TEST_F(PrepareData, AbsurdValuesAreNamedBriefly) {
  file("a.txt", "some text");
  for (const auto& [arguments, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"text --from a.txt --out d --max-unpacked 0", "--max-unpacked: Value 0 is not more than 0\n"},
           {"text --from a.txt --out d --threads 1025", "--threads: Value 1025 is not in the range from 1 to 1024\n"},
           {"text8 --download --from a.txt --out d", "--from a.txt is a file; with --download it names the folder"},
           {"text --from a.txt --out d --train-unigram -1", "Value -1 is not in the range from 1 to 1073741824\n"}}) {
    const ProgramResult outcome = run(arguments);
    EXPECT_EQ(outcome.code, kUsage) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(complaint)) << arguments;
  }
  const std::string word(40'000, 'x');
  const std::string long_error = run(fmt::format("text --from a.txt --out d --name {}é{} --strict", word, word)).err;
  EXPECT_LT(long_error.size(), 3000U);
  EXPECT_THAT(long_error, HasSubstr("use at most 40 of"));
}

TEST_F(PrepareData, PasswordsOfMirrorsAreNotPrinted) {
  for (const char* arguments :
       {"text8 --download --out d --mirror ftp://bob:S3CRET@127.0.0.1",
        "text8 --out d --mirror http://bob:S3CRET@127.0.0.1",
        "text8 --download --out d --miror=http://bob:S3CRET@127.0.0.1",
        "text8 --download --out d http://bob:S3CRET@127.0.0.1", "http://bob:S3CRET@127.0.0.1 --out d",
        "text8 --out http://bob:S3CRET@127.0.0.1/ --from http://bob:S3CRET@127.0.0.1/"}) {
    const ProgramResult outcome = run(std::string("-v ") + arguments);
    EXPECT_NE(outcome.code, kDone) << arguments;
    EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("S3CRET"))) << arguments;
  }
}

TEST_F(PrepareData, ExitCodesTellUsageFromData) {
  file("a.txt", "some text");
  file("empty.txt", "");
  file("half.gz", "\x1F\x8B\x08");
  file("rows.jsonl", "{\"text\": \"one\"}\n");
  file("wrong.txt", "\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82 a");
  fs::create_directory(folder_.path() / "hub");
  file("hub/train.parquet", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n");
  for (const auto& [arguments, code] :
       std::vector<std::pair<std::string, int>>{{"", kUsage},
                                                {"text --from a.txt", kUsage},
                                                {"tetx --from a.txt --out d", kUsage},
                                                {"text --from a.txt --out d --frm x", kUsage},
                                                {"text --from a.txt --out d --split 9,9,9", kUsage},
                                                {"text --from a.txt --out d --unit word", kUsage},
                                                {"text --from a.txt --out a.txt", kUsage},
                                                {"text --from a.txt --out d --max-unpacked -5", kUsage},
                                                {"text --from a.txt --out d --unit bpe", kUsage},
                                                {"text --from a.txt --out d --bpe .", kUsage},
                                                {"text --from a.txt --out d --unit bpe --bpe .", kBadData},
                                                {"text --from nowhere --out d", kBadData},
                                                {"text --from empty.txt --out d", kBadData},
                                                {"text --from half.gz --out d", kBadData},
                                                {"text --from rows.jsonl --out d", kBadData},
                                                {"text --from rows.jsonl --column txt --out d", kBadData},
                                                {"text --from wrong.txt --clean text8 --strict --out d", kBadData},
                                                {"text --from hub --out d --unit byte", kBadData},
                                                {"text8 --from a.txt --from empty.txt --out d", kBadData},
                                                {"text --from a.txt --out a.txt/d", kBadData}}) {
    const ProgramResult outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, testing::StartsWith("error: ")) << arguments;
    EXPECT_LE(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 3) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(fs::exists(folder_.path() / "d"));
  }
}

TEST_F(PrepareData, JsonLinesAreReadAsTheCommandSays) {
  file("rows.jsonl", "{\"text\": \"one two\"}\n{\"text\": \"three\"}\n");
  EXPECT_THAT(run("text --from rows.jsonl --out d").err, HasSubstr("--column NAME"));
  EXPECT_EQ(run("text --from rows.jsonl --column text --out d --split 12,0,0").code, kDone);
  EXPECT_EQ(open_prepared(folder_.path() / "d").split("train").documents.size(), 2U);
  EXPECT_EQ(run("text --from rows.jsonl --as-text --out e --split 36,0,0").code, kDone);
  EXPECT_EQ(open_prepared(folder_.path() / "e").split("train").documents.size(), 1U);
}

TEST_F(PrepareData, TrainingATokenizerCanBeStopped) {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < 400'000) text += random() % 6 == 0 ? ' ' : static_cast<char>('a' + random() % 26);
  file("a.txt", text + text + text);  // long repetitions take SentencePiece minutes
  BackgroundProgram program({XLM_BINARY, "prepare-data", "text", "--from", "a.txt", "--out", "d", "--split",
                             "100%,0%,0%", "--train-unigram", "500"},
                            folder_.path());
  const auto has_begun = [&] {
    return program.standard_error().find("training a unigram tokenizer") != std::string::npos;
  };
  while (program.is_running() && !has_begun()) ::usleep(1000);
  ASSERT_TRUE(has_begun()) << program.standard_error();
  program.kill(SIGTERM);
  const ProgramResult outcome = program.wait();
  EXPECT_EQ(outcome.code, kStopped) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("training a unigram tokenizer of 500 pieces"));
  EXPECT_THAT(outcome.err, HasSubstr("stopped by a signal"));
  EXPECT_TRUE(fs::exists(folder_.path() / "d/meta.json"));
  EXPECT_FALSE(fs::exists(folder_.path() / "d/segmentations/unigram-500"));
}

TEST_F(PrepareData, ATokenizerThatCannotBeTrainedIsAnErrorAndTheDataStay) {
  file("a.txt", "the quick brown fox jumps over the lazy dog, and once more the quick brown fox jumps over it");
  const ProgramResult few = run("text --from a.txt --out d --split 80%,10%,10% --train-unigram 5");
  EXPECT_EQ(few.code, kUsage);
  EXPECT_THAT(few.err, HasSubstr("characters needs a piece"));
  EXPECT_THAT(few.err, HasSubstr("d itself is ready"));
  EXPECT_THAT(run("text --from a.txt --out d --split 80%,10%,10% --train-unigram 32").out,
              HasSubstr("d exists already, made from the same files with the same options; segmentations were added"));
  EXPECT_THAT(run("text --out e").err, HasSubstr("or one for each split with --train, --valid and --test"));
}

TEST_F(PrepareData, MaxUnpackedTakesUnits) {
  file("a.txt", "some text that is plain and so is not unpacked");
  EXPECT_EQ(run("text --from a.txt --out d --max-unpacked 1kB").code, kDone);
}

}  // namespace
}  // namespace xlm
