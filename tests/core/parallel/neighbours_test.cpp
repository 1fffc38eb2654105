// How the processes of a run find each other among foreign connections; here each process is a thread.
#include "core/parallel/neighbours.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/secret.h"
#include "base/text.h"
#include "core/parallel/process_group.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kLoopback = "127.0.0.1";
constexpr double kLong = 3;  // seconds without an answer; enough for the others on a busy machine

/// Two processes of a run, on one machine or reached by TCP.
class NeighboursTest : public ::testing::TestWithParam<const char*> {
 protected:
  NeighboursTest() { create_folders(meeting()); }

  fs::path meeting() const { return folder_.path() / "meeting"; }
  fs::path address_file(int rank) const { return meeting() / fmt::format("address.{}", rank); }

  Processes process(int rank, double patience = 60) const {
    return {.rank = rank,
            .count = 2,
            .meeting = meeting(),
            .secret = secret_,
            .address = GetParam(),
            .patience = patience,
            .should_stop = [this] { return stop_.load(); }};
  }

  /// Finds its neighbours in the background. Returns the error, or "".
  std::future<std::string> start(const Processes& self) {
    return std::async(std::launch::async, [self] {
      try {
        find_neighbours(self);
        return std::string();
      } catch (const Error& error) {
        return std::string(error.what());
      }
    });
  }

  /// A connection to process 1, as soon as it listens.
  Socket stranger() const {
    for (int i = 0; i < 20'000; ++i) {
      if (Socket socket = connect_to(place_of_first()); socket.is_open()) return socket;
      ::usleep(1000);
    }
    ADD_FAILURE() << "process 1 does not listen";
    return Socket();
  }

  std::string place_of_first() const {
    if (*GetParam() == '\0') return "xlm-" + proof(secret_, "name 0").substr(0, kSecretLength / 2);
    while (!fs::exists(address_file(0))) ::usleep(1000);
    return read_file(address_file(0));
  }

  /// A connection to that place; closed if no process listens there.
  static Socket connect_to(const std::string& place) {
    const std::size_t space = place.find(' ');
    sockaddr_un unix_name{};
    unix_name.sun_family = AF_UNIX;
    sockaddr_in host{};
    host.sin_family = AF_INET;
    host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool tcp = space != std::string::npos;
    if (tcp) {
      host.sin_port = htons(static_cast<std::uint16_t>(std::stoi(place.substr(space + 1))));
    } else {
      std::copy(place.begin(), place.end(), unix_name.sun_path + 1);
    }
    const auto* address = tcp ? reinterpret_cast<sockaddr*>(&host) : reinterpret_cast<sockaddr*>(&unix_name);
    const std::size_t size = tcp ? sizeof host : offsetof(sockaddr_un, sun_path) + 1 + place.size();
    Socket socket(::socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(socket.descriptor(), address, static_cast<socklen_t>(size)) == 0 ? std::move(socket) : Socket();
  }

  static void say(const Socket& socket, const std::string& text) {
    ASSERT_EQ(::send(socket.descriptor(), text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }

  /// Reads so many bytes, or fewer if the other side closes the connection.
  static std::string hear(const Socket& socket, std::size_t bytes) {
    std::string heard(bytes, '\0');
    std::size_t count = 0;
    for (ssize_t more = 1; more > 0 && count < bytes; count += static_cast<std::size_t>(std::max<ssize_t>(more, 0))) {
      more = ::recv(socket.descriptor(), heard.data() + count, bytes - count, 0);
    }
    return heard.substr(0, count);
  }

  std::string proof_of(const std::string& role, const std::string& nonces) const {
    return proof(secret_, fmt::format("{} {} 1 of 2 {}", role, place_of_first(), nonces));
  }

  TemporaryFolder folder_;
  std::vector<Socket> crowd_;
  std::string secret_ = fresh_secret();
  std::atomic<bool> stop_ = false;
};

INSTANTIATE_TEST_SUITE_P(By, NeighboursTest, ::testing::Values("", kLoopback),
                         [](const auto& kind) { return std::string(*kind.param == '\0' ? "UnixSockets" : "Tcp"); });

TEST_P(NeighboursTest, AForeignConnectionTakesNoPlace) {
  const std::vector<std::pair<const char*, std::function<void(Socket&)>>> strangers{
      {"closes", [](Socket& socket) { socket = Socket(); }},
      {"is silent", [](Socket&) {}},
      {"sends zeros",
       [](Socket& socket) {
         const std::string zeros(100'000, '\0');  // more than is read, so the connection is reset
         ::send(socket.descriptor(), zeros.data(), zeros.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
       }},
      {"sends zeros and goes",
       [](Socket& socket) {
         say(socket, std::string(100, '\0'));
         socket = Socket();
       }},
      {"says a part of the greeting", [](Socket& socket) { say(socket, "xlm-"); }},
      {"knows the greeting alone",
       [](Socket& socket) {
         say(socket, "xlm-ring" + fresh_secret());
         EXPECT_EQ(hear(socket, 2 * kSecretLength).size(), 2 * kSecretLength);
         say(socket, fresh_secret());
         EXPECT_EQ(hear(socket, 1), "");
       }},
      {"sends back what it hears",
       [](Socket& socket) {
         say(socket, "xlm-ring" + fresh_secret());
         say(socket, hear(socket, 2 * kSecretLength).substr(kSecretLength));
         EXPECT_EQ(hear(socket, 1), "");
       }},
      {"comes as a crowd",
       [this](Socket&) {
         for (int i = 0; i < 200; ++i) crowd_.push_back(stranger());
       }},
  };
  for (const auto& [kind, meddle] : strangers) {
    SCOPED_TRACE(kind);
    fs::remove(address_file(0));
    fs::remove(address_file(1));
    secret_ = fresh_secret();
    auto first = start(process(0));
    Socket socket = stranger();
    meddle(socket);
    auto second = start(process(1));
    EXPECT_EQ(first.get(), "");
    EXPECT_EQ(second.get(), "");
    crowd_.clear();
  }
}

TEST_P(NeighboursTest, AProofIsAcceptedOnlyOnce) {
  const std::string nonce = fresh_secret();
  auto first = start(process(0, kLong));
  Socket socket = stranger();
  say(socket, "xlm-ring" + nonce);
  const std::string reply = hear(socket, 2 * kSecretLength);
  const std::string nonces = nonce + reply.substr(0, kSecretLength);
  EXPECT_EQ(reply.substr(kSecretLength), proof_of("listener", nonces));
  const std::string own = proof_of("caller", nonces);
  say(socket, own);
  EXPECT_EQ(hear(socket, 1), "+");
  EXPECT_THAT(first.get(), AllOf(HasSubstr("process 2 did not answer"), ::testing::Not(HasSubstr("call"))));

  // The same bytes again, to a process with the same secret and the same place.
  fs::remove(address_file(0));
  first = start(process(0, kLong));
  socket = stranger();
  say(socket, "xlm-ring" + nonce);
  hear(socket, 2 * kSecretLength);
  say(socket, own);
  EXPECT_EQ(hear(socket, 1), "");
  EXPECT_THAT(first.get(), AllOf(HasSubstr("process 2 did not call"), HasSubstr("strangers sent away: 1")));
}

TEST_P(NeighboursTest, ProcessesOfAnotherRunAreRefused) {
  Processes other = process(1, 1);
  auto first = start(process(0, 1));
  secret_ = fresh_secret();
  other.secret = secret_;
  EXPECT_THAT(start(other).get(), HasSubstr("not all came within 1 s"));
  EXPECT_THAT(first.get(), HasSubstr("not all came within 1 s"));
}

TEST_P(NeighboursTest, StopWaitingIfAskedToStop) {
  auto first = start(process(0));
  stranger();
  stop_ = true;
  EXPECT_THAT(first.get(), HasSubstr("was asked to stop"));
  EXPECT_THAT(start({.count = 2, .meeting = meeting(), .address = GetParam()}).get(), HasSubstr("have no secret"));
}

TEST_P(NeighboursTest, ProcessesWithDifferentWorkAreRefused) {
  const auto work = [&](int rank) {
    return std::async(std::launch::async, [&, rank] {
      try {
        const auto group = join(process(rank));
        std::vector<double> values(rank == 0 ? 3 : 4);
        group->sum(values.data(), values.size());
        return std::string();
      } catch (const Error& error) {
        return std::string(error.what());
      }
    });
  };
  auto first = work(0);
  auto second = work(1);
  EXPECT_THAT(first.get() + second.get(), HasSubstr("do not do the same"));
}

class TcpNeighbours : public NeighboursTest {
 protected:
  Socket listen_somewhere(std::string& place) const {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    EXPECT_EQ(::bind(socket.descriptor(), reinterpret_cast<sockaddr*>(&own), size), 0);
    EXPECT_EQ(::listen(socket.descriptor(), 8), 0);
    ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&own), &size);
    place = fmt::format("{} {}", kLoopback, ntohs(own.sin_port));
    return socket;
  }
};

INSTANTIATE_TEST_SUITE_P(By, TcpNeighbours, ::testing::Values(kLoopback), [](const auto&) { return "Tcp"; });

TEST_P(TcpNeighbours, ARelayIsDetected) {
  auto first = start(process(0));
  const std::string real = place_of_first();
  std::string place;
  const Socket listener = listen_somewhere(place);
  write_file(address_file(0), place);  // as another user of the group could, who may write there
  auto second = start(process(1, kLong));
  while (second.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    pollfd called{listener.descriptor(), POLLIN, 0};
    if (::poll(&called, 1, 10) <= 0) continue;
    const Socket caller(::accept(listener.descriptor(), nullptr, nullptr));
    const Socket called_on = connect_to(real);
    if (!called_on.is_open()) continue;
    say(called_on, hear(caller, 8 + kSecretLength));
    say(caller, hear(called_on, 2 * kSecretLength));
    EXPECT_EQ(hear(caller, 1), "");
  }
  EXPECT_THAT(second.get(), AllOf(HasSubstr("process 1 did not answer (" + place),
                                  HasSubstr("does not know the secret of this run")));
  stop_ = true;
  EXPECT_THAT(first.get(), HasSubstr("was asked to stop")) << "it has found the other";
}

TEST_P(TcpNeighbours, AnAddressThatLeadsElsewhereIsTriedAgain) {
  std::string place;
  std::optional<Socket> listener = listen_somewhere(place);
  for (const std::string& wrong : {place, std::string("no address"), std::string(kLoopback) + " 1", std::string()}) {
    SCOPED_TRACE(wrong);
    write_file(address_file(1), wrong);
    auto first = start(process(0));
    if (wrong == place) {  // an impostor, which reads the greeting and closes
      const Socket caller(::accept(listener->descriptor(), nullptr, nullptr));
      EXPECT_EQ(hear(caller, 8), "xlm-ring");
      listener.reset();
    }
    auto second = start(process(1));
    EXPECT_EQ(first.get(), "");
    EXPECT_EQ(second.get(), "");
    fs::remove(address_file(0));
  }
  write_file(address_file(1), std::string(1000, '1'));
  EXPECT_THAT(start(process(0, 1)).get(), HasSubstr("the limit is 128"));
}

TEST(UnixNeighbours, OtherUsersOfTheMachineAreRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  const TemporaryFolder folder;
  const std::string secret = fresh_secret();
  const std::string name = "xlm-" + proof(secret, "name 0").substr(0, kSecretLength / 2);
  auto first = std::async(std::launch::async, [&] {
    try {
      find_neighbours({.count = 2, .meeting = folder.path(), .secret = secret, .patience = 3});
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  });
  const pid_t child = ::fork();
  if (child == 0) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), address.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::setuid(65534) != 0) ::_exit(3);
    for (int i = 0; ::connect(socket, reinterpret_cast<sockaddr*>(&address), size) != 0; ++i) {
      if (i > 2000) ::_exit(2);
      ::usleep(1000);
    }
    char byte = 0;
    ::_exit(::recv(socket, &byte, 1, 0) == 0 ? 0 : 1);  // closed without a byte
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(first.get(), HasSubstr("strangers sent away: 1"));
}

}  // namespace
}  // namespace xlm
