// Apart from the program itself, which is compiled once for all that are linked from it.
#include "cmd/program.h"

int main(int argc, char** argv) { return xlm::run_program(argc, argv); }
