// The live page: runs in a browser while jobs write. This file answers its requests, without sockets.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "results/live/http_server.h"
#include "results/live/live_runs.h"

namespace xlm {

struct LivePageSettings {
  std::string token;  // a fresh_secret; the first part of every path, so that only who was told it sees anything
  std::string title;
  std::string where;  // the conditions that the page begins with, as one text; empty: none
};

class LivePage {
 public:
  /// `runs` outlives the page.
  LivePage(const LiveRuns& runs, LivePageSettings settings) : runs_(runs), settings_(std::move(settings)) {}

  /// The response to a request, for several threads at once. A path without the token is not found, and a host that is
  /// not this machine is refused. Wrong conditions, unknown columns and unknown runs get {"error": text}, with status
  /// 400 or 404.
  HttpResponse answer(const HttpRequest& request) const;

  std::string path() const { return "/" + settings_.token + "/"; }

 private:
  HttpResponse page() const;
  HttpResponse state() const;
  HttpResponse list(const HttpRequest& request) const;
  HttpResponse curves(const HttpRequest& request) const;
  HttpResponse run(const HttpRequest& request) const;
  HttpResponse file(const HttpRequest& request) const;
  HttpResponse answer(std::string_view name, const HttpRequest& request) const;

  const LiveRuns& runs_;
  LivePageSettings settings_;
};

}  // namespace xlm
