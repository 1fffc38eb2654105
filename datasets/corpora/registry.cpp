// The table of corpora.
#include "datasets/corpora/registry.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"

namespace xlm {

const std::vector<Corpus>& corpora() {
  static const std::vector<Corpus> table{
      {.name = "text8",
       .summary = "Wikipedia in a-z and spaces: text8.zip, the file text8, or a Wikipedia XML dump, which is filtered",
       .language = "en",
       .cleanings = {"text8"},
       .units = {"character"},
       .read = read_text8},
      {.name = "enwik8",
       .summary = "Wikipedia's raw XML as bytes: enwik8.zip or the file enwik8",
       .language = "en",
       .cleanings = {"none"},
       .units = {"byte"},
       .read = read_enwik8},
      {.name = "text",
       .summary = "text of your own: any files, archives or folders",
       .language = "",
       .cleanings = {"none", "text8"},
       .units = {"character", "byte", "bpe"},
       .folders = true,
       .read = read_text},
      {.name = "wikitext-103",
       .summary = "Wikipedia articles, raw: a folder or archive with wiki.{train,valid,test}.raw; needs --bpe",
       .language = "en",
       .cleanings = {"none"},
       .units = {"bpe"},
       .folders = true,
       .own_splits = true,
       .line_ends_are_words = true,
       .select = select_wikitext103,
       .read = read_wikitext103},
      {.name = "pg-19",
       .summary = "books: a folder with train/, validation/ and test/; needs --bpe, takes --lists",
       .language = "en",
       .cleanings = {"none"},
       .units = {"bpe"},
       .folders = true,
       .own_splits = true,
       .lists = true,
       .select = select_pg19,
       .read = read_pg19},
      {.name = "wiki40b",
       .summary = "Wikipedia in --lang: Parquet or TFRecord shards, or train.txt, validation.txt and test.txt",
       .language = "",
       .cleanings = {"text8"},
       .units = {"character"},
       .folders = true,
       .own_splits = true,
       .needs_language = true,
       .limits = "400000000,2000000,10000000",
       .select = select_wiki40b,
       .read = read_wiki40b},
      {.name = "cc-100",
       .summary = "Web pages in --lang: en.txt.xz, fi.txt.xz, he.txt.xz or vi.txt.xz",
       .language = "",
       .cleanings = {"text8"},
       .units = {"character"},
       .own_splits = true,
       .needs_language = true,
       .limits = "400000000,2000000,2000000",
       .read = read_cc_100},
  };
  return table;
}

const Corpus& find_corpus(const std::string& name) {
  std::vector<std::string> names;
  for (const Corpus& corpus : corpora()) {
    if (corpus.name == name) return corpus;
    names.emplace_back(corpus.name);
  }
  throw UsageError(
      fmt::format("unknown dataset '{}'{}\nthere are: {}", name, did_you_mean(name, names), join(names, ", ")));
}

}  // namespace xlm
