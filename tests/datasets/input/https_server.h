// An HTTPS server for tests, which makes its own certificate.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/files.h"

namespace xlm {

class HttpsServer {
 public:
  /// Answers every request with `answer`: status line, headers and body. Writes the certificate that
  /// clients have to trust to `certificate`.
  HttpsServer(const fs::path& certificate, std::string answer)
      : answer_(std::move(answer)),
        context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
        socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    make_certificate(certificate);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::listen(socket_, 16);
    socklen_t length = sizeof(address);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  HttpsServer(const HttpsServer&) = delete;
  HttpsServer& operator=(const HttpsServer&) = delete;
  ~HttpsServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  std::string url(const std::string& path) const { return fmt::format("https://127.0.0.1:{}{}", port_, path); }
  int answered() const { return answered_; }

 private:
  /// A self-signed certificate for 127.0.0.1, valid for a day.
  void make_certificate(const fs::path& file) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 24L * 3600);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(made.get());
    const auto* const common = reinterpret_cast<const unsigned char*>("127.0.0.1");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common, -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    for (const auto& [kind, value] :
         {std::pair(NID_subject_alt_name, "IP:127.0.0.1"), std::pair(NID_basic_constraints, "critical,CA:TRUE")}) {
      X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
      X509_add_ext(made.get(), extension, -1);
      X509_EXTENSION_free(extension);
    }
    if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0 ||
        SSL_CTX_use_certificate(context_.get(), made.get()) != 1 ||
        SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1) {
      throw std::runtime_error("cannot make a certificate");
    }
    std::FILE* const out = std::fopen(file.c_str(), "w");
    PEM_write_X509(out, made.get());
    std::fclose(out);
  }

  void serve() {
    sigset_t ignored;  // a client may hang up while it is answered
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &ignored, nullptr);
    for (;;) {
      const int connection = ::accept(socket_, nullptr, nullptr);
      if (connection < 0) break;
      const std::unique_ptr<SSL, decltype(&SSL_free)> channel(SSL_new(context_.get()), SSL_free);
      SSL_set_fd(channel.get(), connection);
      if (SSL_accept(channel.get()) == 1) answer(channel.get());
      ::close(connection);
    }
  }

  void answer(SSL* channel) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const int count = SSL_read(channel, buffer, sizeof(buffer));
      if (count <= 0) return;
      request.append(buffer, static_cast<std::size_t>(count));
    }
    ++answered_;
    SSL_write(channel, answer_.data(), static_cast<int>(answer_.size()));
    SSL_shutdown(channel);
  }

  std::string answer_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  int socket_;
  int port_ = 0;
  std::atomic<int> answered_{0};
  std::thread thread_;
};

}  // namespace xlm
