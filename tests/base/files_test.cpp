// Files are whole or absent, and errors name the file and the cause.
#include "base/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

#include <gmock/gmock.h>

#include "base/argument_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

TEST(Files, WrittenFilesReadBack) {
  const TemporaryFolder folder;
  const std::string content("a\0b\n", 4);
  write_file(folder.path() / "f", content);
  EXPECT_EQ(read_file(folder.path() / "f"), content);
  write_file(folder.path() / "f", "");
  EXPECT_EQ(read_file(folder.path() / "f"), "");
}

TEST(Files, ArgumentsMayBePipes) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string content(3'000'000, 'x');
  const auto through = [&](std::uintmax_t limit) {
    const auto writer = std::async(std::launch::async, [&] {
      const int descriptor = ::open(pipe.c_str(), O_WRONLY);
      std::string_view left = content;
      while (!left.empty()) {
        const ssize_t bytes = ::write(descriptor, left.data(), left.size());
        if (bytes < 0) break;
        left.remove_prefix(static_cast<std::size_t>(bytes));
      }
      ::close(descriptor);
    });
    return read_argument(pipe, limit);
  };
  EXPECT_EQ(through(3'000'000), content);
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_THROW(through(2'000'000), DataError);
  write_file(folder.path() / "f", "file");
  EXPECT_EQ(read_argument(folder.path() / "f", 4), "file");
  EXPECT_THROW(read_argument(folder.path() / "f", 3), DataError);
  EXPECT_THROW(read_argument(folder.path(), 3), DataError);
  EXPECT_THROW(read_argument(folder.path() / "absent", 3), DataError);
  EXPECT_THROW(read_argument("/dev/zero", 1'000'000), DataError);
  ASSERT_EQ(::mkfifo((folder.path() / "unwritten").c_str(), 0600), 0);
  EXPECT_THAT([&] { read_argument(folder.path() / "unwritten", 3); },
              ::testing::ThrowsMessage<DataError>(::testing::HasSubstr("no process writes to the pipe")));
}

TEST(Files, AnUncommittedFileLeavesTheOldOneAlone) {
  const TemporaryFolder folder;
  write_file(folder.path() / "f", "old");
  {
    AtomicFile file(folder.path() / "f");
    file.write(std::string(3'000'000, 'x'));
  }
  EXPECT_EQ(read_file(folder.path() / "f"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(Files, LargeAndSmallWritesKeepTheirOrder) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path() / "f");
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 2 == 0 ? 3 : 700'000), static_cast<char>('a' + i % 26));
    file.write(piece);
    expected += piece;
  }
  EXPECT_EQ(file.size(), expected.size());
  file.commit();
  EXPECT_EQ(read_file(folder.path() / "f"), expected);
}

TEST(Files, ALinkStaysAndItsTargetIsWritten) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "inner");
  write_file(folder.path() / "inner" / "there", "old");
  fs::create_symlink("inner/there", folder.path() / "link");
  fs::create_symlink("link", folder.path() / "second");
  fs::create_symlink("inner/not-yet", folder.path() / "dangling");
  write_file(folder.path() / "second", "new");
  write_file(folder.path() / "dangling", "made");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "second"));
  EXPECT_EQ(read_file(folder.path() / "inner" / "there"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "dangling"));
  EXPECT_EQ(read_file(folder.path() / "inner" / "not-yet"), "made");
  fs::create_symlink("round", folder.path() / "round");
  EXPECT_THROW(write_file(folder.path() / "round", "x"), Error);
}

TEST(Files, APipeIsWrittenThrough) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(pipe, "through");
  std::string text(10, '\0');
  text.resize(static_cast<std::size_t>(::read(reader, text.data(), text.size())));
  ::close(reader);
  EXPECT_EQ(text, "through");
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THROW(write_file(folder.path(), "a folder"), DataError);
}

TEST(Files, ADeviceStaysADevice) {
  write_file("/dev/null", "lost");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Files, AFileThatThisProcessHasOpenIsWrittenThrough) {
  const TemporaryFolder folder;
  write_file(folder.path() / "all", "before\n");
  const int out = ::open((folder.path() / "all").c_str(), O_WRONLY | O_APPEND);
  const std::string name = "/dev/fd/" + std::to_string(out);
  fs::create_symlink(name, folder.path() / "link");
  write_file(name, "one\n");
  write_file(folder.path() / "link", "two\n");
  ::close(out);
  EXPECT_EQ(read_file(folder.path() / "all"), "before\none\ntwo\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
  EXPECT_THROW(write_file(name, "closed"), Error);
}

TEST(Files, PermissionsFollowTheUmask) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0027);
  write_file(folder.path() / "closed", "x");
  ::umask(0002);
  write_file(folder.path() / "shared", "x");
  AppendFile(folder.path() / "journal").append("x");
  ::umask(before);
  const auto mode = [&](const char* name) { return fs::status(folder.path() / name).permissions(); };
  EXPECT_EQ(mode("closed"), fs::perms(0640));
  EXPECT_EQ(mode("shared"), fs::perms(0664));
  EXPECT_EQ(mode("journal"), fs::perms(0664));
}

/// Any user may put such files into a shared folder: pipes whose other end is never opened, a socket, and a device
/// without an end.
TEST(Files, OtherThanRegularFilesAreRefusedWithoutWaiting) {
  const TemporaryFolder folder;
  const auto at = [&](const char* name) { return folder.path() / name; };
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0666), 0);
  fs::create_symlink("pipe", at("link"));
  fs::create_symlink("/dev/zero", at("device"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(at("socket").string().size(), sizeof(address.sun_path));
  at("socket").string().copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  for (const char* name : {"pipe", "link", "device", "socket"}) {
    const auto refuses = [&](const std::function<void()>& work) {
      EXPECT_THAT(thrown_message<DataError>(work), testing::HasSubstr("is not a regular file")) << name;
    };
    refuses([&] { read_file(at(name)); });
    refuses([&] { InputFile file(at(name)); });
    refuses([&] { MappedFile file(at(name)); });
    refuses([&] { AppendFile file(at(name)); });
    refuses([&] { AppendPause pause(at(name)); });
    refuses([&] { open_regular(at(name), O_WRONLY | O_APPEND, "write"); });
  }
  ::close(socket);
  EXPECT_THROW(write_file(at("pipe"), "text"), DataError);
  EXPECT_THROW(open_regular(folder.path(), O_RDONLY, "read"), DataError);
  const int made = open_regular(at("new"), O_WRONLY | O_CREAT, "write");
  EXPECT_EQ(::fcntl(made, F_GETFD), FD_CLOEXEC);
  ::close(made);
}

/// As on the machine of a file server, which takes leases.
TEST(Files, AFileUnderALeaseIsWaitedFor) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "content");
  const int holder = ::open((folder.path() / "file").c_str(), O_RDONLY);
  ::signal(SIGIO, SIG_IGN);  // the signal by which the kernel asks for the lease
  if (::fcntl(holder, F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << needs::kFileSystem;
  auto text = std::async(std::launch::async, [&] { return read_file(folder.path() / "file"); });
  while (::fcntl(holder, F_GETLEASE) == F_WRLCK) std::this_thread::yield();  // until the other thread opens the file
  EXPECT_EQ(text.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  ::fcntl(holder, F_SETLEASE, F_UNLCK);
  EXPECT_EQ(text.get(), "content");
  ::close(holder);
}

TEST(Json, NestedTooDeepIsRefused) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(100), "f"));
  EXPECT_THROW(parse_json(nested(101), "f"), DataError);
  EXPECT_THROW(parse_json("{\"a\":" + nested(100) + "}", "f"), DataError);
  EXPECT_FALSE(parse_json_if_any(nested(101)).has_value());
  EXPECT_FALSE(parse_json_if_any("{").has_value());
  EXPECT_TRUE(parse_json_if_any(nested(100)).has_value());
  const std::string text(200, '[');
  EXPECT_EQ(parse_json("[\"" + text + "\\\"" + text + "\\\\\"]", "f").at(0), text + "\"" + text + "\\")
      << "brackets in strings, after escaped quotation marks";
  EXPECT_EQ(parse_json("[[1],[2],[3]]", "f").size(), 3);
  EXPECT_NO_THROW(parse_json(
      "[" +
          [] {
            std::string many;
            for (int i = 0; i < 200; ++i) many += "[],";
            return many;
          }() +
          "1]",
      "f"))
      << "next to each other";
}

TEST(Files, LeftoversOfKilledProcessesAreRemoved) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "checkpoints");
  const auto left = [&](const std::string& name, std::chrono::minutes ago) {
    write_file(folder.path() / name, "half");
    fs::last_write_time(folder.path() / name, fs::file_time_type::clock::now() - ago);
    return folder.path() / name;
  };
  constexpr std::chrono::minutes kLong(60);
  const fs::path old = left("checkpoints/.step-000000005.safetensors.0123abcd", kLong);
  const fs::path config = left(".config.yaml.99999999", kLong);
  const std::vector<fs::path> kept{left(".config.yaml.00000000", std::chrono::minutes(0)), left("config.yaml", kLong),
                                   left(".hidden", kLong), left("lock.12345678", kLong)};
  remove_unfinished_files(folder.path());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(config));
  for (const fs::path& file : kept) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST(Files, WritingAFileRemovesItsLeftovers) {
  const TemporaryFolder folder;
  const auto left = [&](const std::string& name) {
    write_file(folder.path() / name, "half");
    fs::last_write_time(folder.path() / name, fs::file_time_type::clock::now() - std::chrono::hours(1));
    return folder.path() / name;
  };
  const fs::path same = left(".table.tex.0123abcd");
  const fs::path other = left(".table.csv.0123abcd");
  write_file(folder.path() / "table.tex", "whole");
  EXPECT_FALSE(fs::exists(same));
  EXPECT_TRUE(fs::exists(other));
}

TEST(Files, MissingAndTooLongFilesAreDataErrors) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_file(folder.path() / "absent"), DataError);
  EXPECT_THROW(read_file(folder.path()), DataError);
  write_file(folder.path() / "f", "12345");
  EXPECT_THROW(read_file(folder.path() / "f", 4), DataError);
}

TEST(Files, AFullDiskIsAResourceError) {
  EXPECT_THROW(throw_file_error("write", "x", ENOSPC), ResourceError);
  EXPECT_THROW(throw_file_error("write", "x", EDQUOT), ResourceError);
  EXPECT_THROW(throw_file_error("read", "x", ENOENT), DataError);
  EXPECT_THROW(write_file("/dev/full", "line"), ResourceError);
}

TEST(Files, FoldersThatCannotBeMadeAreNamed) {
  const TemporaryFolder folder;
  write_file(folder.path() / "f", "");
  EXPECT_THAT(thrown_message<Error>([&] { create_folders(folder.path() / "f" / "g"); }), testing::HasSubstr("f/g"));
}

TEST(Files, AFolderThatAppearsLateIsWaitedFor) {
  // A dangling link is like a folder that another client of a network file system has just made: it is not visible, and
  // making it fails.
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "runs";
  fs::create_directory_symlink(folder.path() / "elsewhere", path);
  const auto other = std::async(std::launch::async, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    fs::create_directory(folder.path() / "elsewhere");
  });
  create_folders(path / "inner");
  EXPECT_TRUE(fs::is_directory(path / "inner"));
}

/// Appends while files may not grow beyond so many bytes, as on a full disk.
void append_without_room(AppendFile& out, const std::string& line, rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit small { bytes, before.rlim_max };
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(out.append(line), ResourceError);
  ::setrlimit(RLIMIT_FSIZE, &before);
}

TEST(Files, ALineWithoutRoomIsTakenBack) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  AppendFile worker(file);
  AppendFile note(file);
  worker.append("one");
  for (const rlim_t room : {4, 5, 9}) {
    append_without_room(note, "a note of more than ten bytes", room);
    EXPECT_EQ(read_file(file), "one\n") << room;
  }
  worker.append("two");
  note.append("three");
  EXPECT_EQ(read_file(file), "one\ntwo\nthree\n");
}

TEST(Files, ALineAfterAnotherProcesssTornOneIsSeparate) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  AppendFile worker(file);
  worker.append("one");
  for (const char* torn : {"{", "{\"type\":", "a whole note but for its end"}) {
    std::ofstream(file, std::ios::app) << torn;  // its process was killed
    worker.append("two");
    EXPECT_TRUE(read_file(file).ends_with(std::string("\n") + torn + "\ntwo\n")) << read_file(file);
  }
}

TEST(Files, NothingIsWrittenThroughALinkOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  const TemporaryFolder folder;
  const fs::path own = folder.path() / "own";
  const fs::path link = folder.path() / "link";
  write_file(own, "mine");
  fs::create_symlink(own, link);
  AppendFile(link).append("!");
  EXPECT_EQ(read_file(own), "mine\n!\n") << "a link of one's own";
  ASSERT_EQ(::lchown(link.c_str(), 3001, 3001), 0);
  const auto refused = ::testing::HasSubstr("it is a link that another user laid");
  EXPECT_THAT(thrown_message<DataError>([&] { AppendFile file(link); }), refused);
  EXPECT_THAT(thrown_message<DataError>([&] { write_file(link, "theirs"); }), refused);
  EXPECT_EQ(read_file(own), "mine\n!\n");
  EXPECT_EQ(read_file(link), "mine\n!\n") << "to read through it does no harm";
}

TEST(Files, NamesMayBeAsLongAsTheFileSystemTakes) {
  const TemporaryFolder folder;
  for (const std::size_t bytes : {244, 245, 246, 255}) {
    const fs::path file = folder.path() / std::string(bytes, 'n');
    write_file(file, "one");
    write_file(file, "two");
    EXPECT_EQ(read_file(file), "two") << bytes;
  }
}

TEST(Files, AppendedLinesStayWhole) {
  const TemporaryFolder folder;
  AppendFile(folder.path() / "f").append("one");
  AppendFile(folder.path() / "f").append("two", true);
  EXPECT_EQ(read_file(folder.path() / "f"), "one\ntwo\n");
}

TEST(Files, AppendingWaitsWhileTheFileIsReplaced) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  AppendFile opened(file);
  opened.append_shared("one");
  std::future<void> late;
  {
    const AppendPause pause(file);
    late = std::async(std::launch::async, [&] { opened.append_shared("two", true); });
    EXPECT_EQ(late.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    write_file(file, "new\n");
  }
  late.get();
  opened.append_shared("three");
  EXPECT_EQ(read_file(file), "new\ntwo\nthree\n");
}

TEST(Files, AppendingFollowsAFileThatWasMoved) {
  const TemporaryFolder folder;
  AppendFile opened(folder.path() / "f");
  fs::rename(folder.path() / "f", folder.path() / "g");
  opened.append_shared("one");
  EXPECT_EQ(read_file(folder.path() / "g"), "one\n");
  EXPECT_FALSE(fs::exists(folder.path() / "f"));
  const AppendPause none(folder.path() / "f");
  EXPECT_FALSE(fs::exists(folder.path() / "f"));
}

TEST(Files, AnAppendedFileKnowsIfItWasMoved) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "f";
  AppendFile opened(file);
  opened.append("one");
  EXPECT_TRUE(opened.is_at_its_name());
  fs::rename(file, folder.path() / "g");
  EXPECT_FALSE(opened.is_at_its_name()) << "moved";
  write_file(file, "another\n");
  EXPECT_FALSE(opened.is_at_its_name()) << "replaced";
  fs::rename(folder.path() / "g", file);
  EXPECT_TRUE(opened.is_at_its_name());
  fs::remove(file);
  EXPECT_FALSE(opened.is_at_its_name()) << "removed";
}

TEST(Files, AppendingToARemovedFileFails) {
  const TemporaryFolder folder;
  AppendFile opened(folder.path() / "f");
  opened.append_shared("one");
  fs::remove(folder.path() / "f");
  EXPECT_THROW(opened.append_shared("two"), DataError);
  EXPECT_FALSE(fs::exists(folder.path() / "f"));
}

TEST(Files, UnfinishedNamesAreDistinguishedFromUsers) {
  for (const char* name : {".config.yaml.0123abcd", ".merge.00000000", ".a.b.c.deadbeef"}) {
    EXPECT_TRUE(is_unfinished_name(name)) << name;
  }
  for (const char* name : {".notes", ".gitignore", ".0123abcd", "..0123abcd", "a.0123abcd", ".a.0123ABCD", ".a.123abcd",
                           ".a.00123abcd", ".a.0123abcd.txt"}) {
    EXPECT_FALSE(is_unfinished_name(name)) << name;
  }
}

TEST(Sha256, EqualsThePublishedTestVectors) {  // FIPS 180-2, appendix B
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Json, AnythingButAnObjectIsNamedIfOneIsNeeded) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x.json";
  write_file(file, R"({"a": 1})");
  EXPECT_EQ(read_json_object(file)["a"], 1);
  for (const char* text : {"[]", "null", "\"a\""}) {
    write_file(file, text);
    EXPECT_THROW(read_json_object(file), DataError) << text;
  }
}

TEST(Json, ComplaintsNameTheSource) {
  EXPECT_THAT(thrown_message<DataError>([] { parse_json("{\"a\": }", "x.json"); }),
              testing::StartsWith("x.json is not valid JSON"));
  EXPECT_EQ(json_number(0.1), "0.1");
}

}  // namespace
}  // namespace xlm
