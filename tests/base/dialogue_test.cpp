// Programs of the system that answer lines.
#include "base/dialogue.h"

#include <csignal>
#include <string>

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/progress.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string complaint_of(const std::string& script, double seconds = 30) {
  try {
    Dialogue program({"sh", "-c", script});
    return "answered " + program.ask("question", seconds);
  } catch (const Error& error) {
    return error.what();
  }
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0; }

TEST(Dialogue, AnswersLineByLine) {
  Dialogue program({"cat"});
  EXPECT_EQ(program.ask("one", 30), "one");
  const std::string long_line(300'000, 'x');
  EXPECT_EQ(program.ask("", 30), "");
  Dialogue doubling({"sh", "-c", "while read line; do printf 'a %s\\nb %s\\n' \"$line\" \"$line\"; done"});
  EXPECT_EQ(doubling.ask("1", 30), "a 1");
  EXPECT_EQ(doubling.ask("2", 30), "b 1") << "answers are taken in their order";
  Dialogue counting({"sh", "-c", "read line; echo ${#line}; echo kept >&2; cat >/dev/null"});
  EXPECT_EQ(counting.ask(long_line, 60), "300000");
}

TEST(Dialogue, SaysWhyThereIsNoAnswer) {
  EXPECT_THAT(complaint_of("echo first >&2; echo 'the reason' >&2; exit 3"),
              AllOf(HasSubstr("sh has ended"), HasSubstr(": the reason")));
  EXPECT_EQ(complaint_of("exec sleep 1000", 0.3), "sh has not answered for 0 s");
  EXPECT_THAT(complaint_of("exec cat /dev/zero", 300), HasSubstr("sh answers without a line end"));
  EXPECT_THROW(Dialogue({"there-is-no-such-program"}), Error);
}

TEST(Dialogue, EndsTheProgram) {
  pid_t process = 0;
  {
    Dialogue program({"sh", "-c", "trap '' TERM; echo $$; read line; echo $line; sleep 1000"});
    process = static_cast<pid_t>(std::stoi(program.ask("", 30)));
    EXPECT_TRUE(is_alive(process));
  }
  EXPECT_FALSE(is_alive(process));
}

}  // namespace
}  // namespace xlm
