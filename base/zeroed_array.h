// A large array of zeros, whose pages take memory only once they are used.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace xlm {

template <class Element>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<Element>);

 public:
  /// Throws std::bad_alloc.
  explicit ZeroedArray(std::size_t size) : size_(size) {
    void* const memory =
        ::mmap(nullptr, size * sizeof(Element), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    ::madvise(memory, size * sizeof(Element), MADV_HUGEPAGE);  // looked up at random: fewer pages are found faster
    elements_ = static_cast<Element*>(memory);
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : elements_(std::exchange(other.elements_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  ZeroedArray& operator=(ZeroedArray&&) = delete;
  ~ZeroedArray() {
    if (elements_ != nullptr) ::munmap(elements_, size_ * sizeof(Element));
  }

  std::size_t size() const { return size_; }
  Element& operator[](std::size_t place) { return elements_[place]; }

 private:
  Element* elements_ = nullptr;
  std::size_t size_;
};

}  // namespace xlm
