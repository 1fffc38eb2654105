// Only main(): the program itself is compiled once, for all programs that link it.
#include "cmd/program.h"

int main(int argc, char** argv) { return xlm::run_program(argc, argv); }
