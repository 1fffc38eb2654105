// The store as a file: damaged, replaced by a new one, or no store at all.
#include "results/store/store.h"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/results/store/store_file.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(StoreFile, RefusesAStoreOfAnotherVersionAndRebuildsIt) {
  maker_.make({.id = "a"});
  { Store store(file_); }
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    database.exec("UPDATE schema_version SET version = 999");
  }
  EXPECT_THAT(error_of([&] { Store store(file_); }, kBadData), HasSubstr("its store version is 999"));
  EXPECT_THAT(error_of([&] { Store::open_read_only(file_); }, kBadData), HasSubstr("xlm runs sync --rebuild"));
  EXPECT_EQ(schema_version(SQLite::Database(file_.string())), 999) << "it is left as it was";
  Store::rebuild(file_, maker_.runs());
  Store store(file_);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, RefusesAFileThatIsNoDatabaseAndRebuildsIt) {
  maker_.make({.id = "a"});
  write_file(file_, std::string(5000, 'x'));
  EXPECT_THAT(error_of([&] { Store store(file_); }, kBadData), HasSubstr("xlm runs sync --rebuild"));
  Store::rebuild(file_, maker_.runs());
  Store store(file_);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, RefusesACorruptStoreAndRebuildsIt) {
  maker_.make_sweep({"fixed"}, {64, 128}, {1, 2, 3});
  {
    Store store(file_);
    store.sync(maker_.runs());
  }
  {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(static_cast<std::size_t>(fs::file_size(file_)) - 4096, '\x5a');
  }
  EXPECT_THAT(error_of(
                  [&] {
                    Store store(file_);
                    store.sync(maker_.runs());
                  },
                  kBadData),
              HasSubstr("corrupt"));
  Store::rebuild(file_, maker_.runs());
  Store store(file_);
  EXPECT_EQ(rows(store, "SELECT run_id FROM runs").size(), 6);
}

TEST_F(StoreFile, LeavesAnotherProgramsDatabaseAlone) {
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("CREATE TABLE recipes (name TEXT)");
  }
  EXPECT_THAT(error_of([&] { Store store(file_); }, kBadData), HasSubstr("not a store of results"));
  error_of([&] { Store::rebuild(file_, maker_.runs()); }, kBadData);
  SQLite::Database database(file_.string());
  EXPECT_TRUE(database.tableExists("recipes"));
}

TEST_F(StoreFile, WhatWasNeverAStoreIsNotReplaced) {
  maker_.make({.id = "a"});
  const fs::path notes = temporary_.path() / "notes.txt";
  write_file(notes, "of weeks");
  EXPECT_THAT(error_of([&] { Store store(notes); }, kBadData), HasSubstr("notes.txt is no store of results"));
  EXPECT_THAT(error_of([&] { Store store(notes); }, kBadData), ::testing::Not(HasSubstr("rebuild")));
  EXPECT_THAT(error_of([&] { Store::rebuild(notes, maker_.runs()); }, kBadData), HasSubstr("name another file"));
  EXPECT_EQ(read_file(notes), "of weeks");
  error_of([&] { Store::rebuild("/dev/null", maker_.runs()); }, kBadData);
  error_of([&] { Store store("/dev/null"); }, kBadData);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// What is called a store may be the database of another program.
TEST_F(StoreFile, WhatIsCalledAStoreAndIsNoneIsKeptBesideTheNewOne) {
  maker_.make({.id = "a"});
  for (const char* text : {"of weeks", "of days"}) {
    write_file(file_, text);
    Store::rebuild(file_, maker_.runs());
    Store store(file_);
    EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
  }
  EXPECT_EQ(read_file(file_.string() + ".damaged"), "of weeks");
  EXPECT_EQ(read_file(file_.string() + ".damaged.2"), "of days");
}

TEST_F(StoreFile, TheUmaskSaysWhoMayWriteIt) {
  maker_.make({.id = "a"});
  const mode_t before = ::umask(002);
  { Store store(file_); }
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms(0664));
  fs::remove(file_);
  Store::rebuild(file_, maker_.runs());
  ::umask(before);
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms(0664));
}

TEST_F(StoreFile, StaysOpenWhereAnotherProcessMakesItAnew) {
  maker_.make({.id = "a"});
  Store store(file_);
  store.sync(maker_.runs());
  Store::rebuild(file_, maker_.runs());
  maker_.make({.id = "b"});
  EXPECT_EQ(store.sync(maker_.runs()).added, 1);
  Store now(file_);
  EXPECT_THAT(rows(now, "SELECT run_id FROM runs"), ElementsAre("a", "b"));
}

TEST_F(StoreFile, WhoHadItOpenWhenItWasMadeAnewDisturbsNoWriter) {
  maker_.make({.id = "a"});
  Store before(file_);
  before.sync(maker_.runs());
  Store::rebuild(file_, maker_.runs());
  SQLite::Database writer(file_.string(), SQLite::OPEN_READWRITE);
  writer.exec("PRAGMA cache_size = 1");  // writes before it commits
  writer.exec("BEGIN IMMEDIATE");
  writer.exec("CREATE TABLE notes (text)");
  writer.exec(
      "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 1000) "
      "INSERT INTO notes SELECT hex(zeroblob(500)) FROM count");
  std::thread reading([&] { EXPECT_THAT(rows(before, "SELECT run_id FROM runs"), ElementsAre("a")); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(fs::exists(file_.string() + "-journal")) << "what the writer would go back with";
  EXPECT_NO_THROW(writer.exec("COMMIT"));
  reading.join();
}

TEST_F(StoreFile, WhatKilledRebuildsLeftIsRemovedByTheNext) {
  maker_.make({.id = "a"});
  const fs::path old = file_.string() + ".rebuild-12";
  const fs::path running = file_.string() + ".rebuild-13";
  for (const fs::path& file : {old, running}) write_file(file, "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  Store::rebuild(file_, maker_.runs());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(running));
}

TEST_F(StoreFile, ALinkToAStoreStaysALinkWhenRebuilt) {
  maker_.make({.id = "a"});
  const fs::path target = temporary_.path() / "elsewhere.db";
  { Store store(target); }
  fs::create_symlink(target, file_);
  Store::rebuild(file_, maker_.runs());
  EXPECT_TRUE(fs::is_symlink(file_));
  Store store(target);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, AFailedRebuildLeavesNothingBehind) {
  error_of([&] { Store::rebuild(file_, temporary_.path() / "nowhere"); }, kBadData);
  EXPECT_TRUE(fs::is_empty(maker_.runs()));
}

TEST_F(StoreFile, IgnoresTheJournalOfACrashOfTheOldStoreWhenRebuilt) {
  maker_.make({.id = "a"});
  write_file(file_, std::string(5000, 'x'));
  write_file(file_.string() + "-journal", std::string(5000, 'y'));
  Store::rebuild(file_, maker_.runs());
  Store store(file_);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, IsNotReplacedWhileAnotherProcessWritesIt) {
  maker_.make({.id = "a"});
  { Store store(file_); }
  SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");
  std::atomic<bool> rebuilt{false};
  std::thread rebuilding([&] {
    Store::rebuild(file_, maker_.runs());
    rebuilt = true;
  });
  for (int i = 0; i < 1000 && !rebuilt; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(rebuilt);
  other.exec("COMMIT");
  rebuilding.join();
  Store store(file_);
  EXPECT_THAT(rows(store, "SELECT run_id FROM runs"), ElementsAre("a"));
}

TEST_F(StoreFile, CannotBeAFolder) {
  create_folders(file_);
  EXPECT_THAT(error_of([&] { Store store(file_); }, kBadData), HasSubstr("--store"));
}

TEST_F(StoreFile, ReadOnlyNeedsAStore) {
  error_of([&] { Store::open_read_only(file_); }, kBadData);
}

TEST_F(StoreFile, UsesARollbackJournal) {
  Store store(file_);
  EXPECT_THAT(rows(store, "PRAGMA journal_mode"), ElementsAre("delete"));
}

}  // namespace
}  // namespace xlm
