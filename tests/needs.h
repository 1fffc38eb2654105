// What some tests need and some machines lack. A test without it is skipped by one line: a label in brackets, what is
// missing, and the command that makes it run. scripts/run_tests.py counts by label, and `make test-skipped` runs again
// what was skipped.
#pragma once

namespace xlm::needs {

inline constexpr const char* kReaders =
    "[readers] TensorBoard, matplotlib and transformers are not installed: make readers test-skipped";
inline constexpr const char* kCuda = "[cuda] libtorch's CUDA libraries are not installed: make test-skipped CUDA=1";
inline constexpr const char* kSlurm =
    "[slurm] XLM_TEST_SLURM names no program that starts a Slurm: make test-skipped XLM_TEST_SLURM=PROGRAM";
inline constexpr const char* kGridEngine =
    "[gridengine] root and Debian's gridengine-master, -exec and -client are needed: make test-skipped as root with "
    "them";
inline constexpr const char* kSshServer =
    "[sshd] no ssh server or no rsync is installed: make test-skipped with openssh-server and rsync";
inline constexpr const char* kLatex = "[latex] pdflatex with booktabs is not installed: make extras test-skipped";
inline constexpr const char* kBrowser = "[browser] no Chromium is installed: make extras test-skipped";
inline constexpr const char* kRoot = "[root] only root can do this: sudo make test-skipped";
inline constexpr const char* kNamespaces = "[namespaces] this system makes none for this user: sudo make test-skipped";
inline constexpr const char* kTexts =
    "[texts] real texts are not next to the checkout: make test-skipped XLM_REAL_TEXTS=FOLDER";
inline constexpr const char* kProcessor = "[processor] it multiplies no bfloat16: make test on one with avx512_bf16";
inline constexpr const char* kFileSystem = "[files] this file system lacks what is tested: make test TMPDIR=FOLDER";
inline constexpr const char* kNetwork =
    "[network] no network file system is mounted twice: make test-skipped XLM_TEST_NETWORK=/MOUNT/A:/MOUNT/B";
inline constexpr const char* kSoak = "[soak] takes too long for here: make null-cuda";

}  // namespace xlm::needs
