// Shared list: a list of values that its copies share, and each of its values with the lists that were made from it.
// What: reads like a vector of const values; a copy is one pointer; `edit` copies the one value that is edited.
// Why:  a site is copied for every plan and every version, and a change touches one pool of a hundred. What two
//       versions share is known to be equal by its address, so that whoever checks, compares or builds from a version
//       looks at what has changed and at nothing else.
// Cost: two pointers more on the way to a value; an edit copies the list's pointers, 16 bytes each.
// Thread: any number of readers; a list is edited by whoever holds it alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace guideway {

template <class T>
class SharedList {
 public:
  using Item = std::shared_ptr<const T>;

  class const_iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;
    const_iterator() = default;
    explicit const_iterator(const Item* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    const_iterator& operator++() {
      ++at_;
      return *this;
    }
    const_iterator operator++(int) {
      const_iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const const_iterator&, const const_iterator&) = default;
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) {
      return a.at_ - b.at_;
    }

   private:
    const Item* at_ = nullptr;
  };
  using value_type = T;

  SharedList() = default;
  SharedList(std::initializer_list<T> values) : SharedList(std::vector<T>(values)) {}
  SharedList(std::vector<T> values) {  // NOLINT(google-explicit-constructor): a list of the same values
    Items items;
    items.reserve(values.size());
    for (T& value : values) items.push_back(std::make_shared<const T>(std::move(value)));
    items_ = std::make_shared<Items>(std::move(items));
  }

  [[nodiscard]] std::size_t size() const { return items().size(); }
  [[nodiscard]] bool empty() const { return items().empty(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return *items()[index]; }
  [[nodiscard]] const T& front() const { return *items().front(); }
  [[nodiscard]] const T& back() const { return *items().back(); }
  [[nodiscard]] const_iterator begin() const { return const_iterator(items().data()); }
  [[nodiscard]] const_iterator end() const { return const_iterator(items().data() + items().size()); }
  // The value itself, to be held, put into another list, or told from others by its address.
  [[nodiscard]] const Item& share(std::size_t index) const { return items()[index]; }

  void push_back(T value) { push_back(std::make_shared<const T>(std::move(value))); }
  void push_back(Item value) { own().push_back(std::move(value)); }
  void replace(std::size_t index, Item value) { own()[index] = std::move(value); }
  void erase(std::size_t index) {
    Items& items = own();
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(index));
  }
  // Nobody else sees what is written there. Valid until the list is copied or changed.
  [[nodiscard]] T& edit(std::size_t index) {
    auto copy = std::make_shared<T>(*items()[index]);
    T& out = *copy;
    own()[index] = std::move(copy);
    return out;
  }

  // The very same values in the same order.
  [[nodiscard]] bool shares(const SharedList& other) const { return items() == other.items(); }
  friend bool operator==(const SharedList& a, const SharedList& b) {
    if (a.items_ == b.items_) return true;
    const auto equal = [](const Item& x, const Item& y) { return x == y || *x == *y; };
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal);
  }

 private:
  using Items = std::vector<Item>;
  [[nodiscard]] const Items& items() const {
    static const Items none;
    return items_ == nullptr ? none : *items_;
  }
  Items& own() {
    if (items_ == nullptr || items_.use_count() != 1) {
      items_ = std::make_shared<Items>(items());
    } else {
      std::atomic_thread_fence(std::memory_order_acquire);  // whoever shared it has read it before letting go
    }
    return *items_;
  }

  std::shared_ptr<Items> items_;  // absent: empty
};

// The values of a list, to be told by their addresses. The list outlives it.
template <class T>
class SharedWith {
 public:
  explicit SharedWith(const SharedList<T>& list) {
    addresses_.reserve(list.size());
    for (const T& value : list) addresses_.push_back(&value);
    std::sort(addresses_.begin(), addresses_.end(), std::less<>());
  }
  [[nodiscard]] bool contains(const T& value) const {
    return std::binary_search(addresses_.begin(), addresses_.end(), &value, std::less<>());
  }

 private:
  std::vector<const T*> addresses_;
};

}  // namespace guideway
