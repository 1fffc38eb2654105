// How each corpus is read; the table in registry.cpp says what else is special about it.
#pragma once

#include "datasets/registry.h"

namespace xlm {

void read_text8(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
                CleanText& text);
void read_enwik8(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                 const PrepareObserver& observer, CleanText& text);
void read_text(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
               CleanText& text);

std::vector<SourceFile> select_wikitext103(const std::vector<SourceFile>& found, const CorpusSettings& settings);
void read_wikitext103(const std::vector<SourceFile>& sources, const CorpusSettings& settings,
                      const PrepareObserver& observer, CleanText& text);
std::vector<SourceFile> select_pg19(const std::vector<SourceFile>& found, const CorpusSettings& settings);
void read_pg19(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
               CleanText& text);

/// Calls `each` for every piece of `file`. The first piece has at least 64 KiB unless the file is shorter.
void for_each_block(const TextFile& file, const std::function<void(std::string_view block)>& each);

/// For corpora that are one file: throws DataError at the second file of an archive.
void check_single(const TextFile& file, std::string_view corpus);

}  // namespace xlm
