// The program: finds the subcommand, runs it, and turns errors into messages and exit codes.
#pragma once

namespace xlm {

/// All that main() does.
int run_program(int argc, char** argv);

}  // namespace xlm
