#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tessera {

// Values by keys, at most `limit` of them, and of at most so much weight together (but always the
// last one): the least recently used one goes first.
// Several threads may ask at once; those that ask for the same key wait for the one that makes it.
template<typename Key, typename Value>
class LeastRecentlyUsed {
public:
    using Weigh = std::function<size_t(const Value &)>;
    explicit LeastRecentlyUsed(size_t limit) : limit(limit) {}
    LeastRecentlyUsed(size_t limit, size_t most_weight, Weigh weigh)
        : limit(limit), most_weight(most_weight), weigh(std::move(weigh)) {}

    struct Found {
        Value value;
        bool is_new = false;
    };
    // Returns the value that make() has returned for an equal key before, or returns now. If it
    // throws, the next who asks tries again.
    Found find_or_make(uint64_t hash, const Key &key, const std::function<Value()> &make) {
        const std::shared_ptr<Entry> entry = entry_for(hash, key);
        std::lock_guard lock(entry->making);
        if (entry->is_made) return {entry->value, false};
        entry->value = make();
        entry->is_made = true;
        if (weigh) add_weight(*entry, weigh(entry->value));
        return {entry->value, true};
    }
    void clear() {
        std::lock_guard lock(mutex);
        by_hash.clear();
        for (const auto &entry : entries) entry->is_kept = false;
        entries.clear();
        weight = 0;
    }
    size_t size() const {
        std::lock_guard lock(mutex);
        return entries.size();
    }
    size_t total_weight() const {
        std::lock_guard lock(mutex);
        return weight;
    }
    void set_limits(size_t most, size_t most_weight_of_all) {
        std::lock_guard lock(mutex);
        limit = most;
        most_weight = most_weight_of_all;
        shrink();
    }

private:
    struct Entry {
        uint64_t hash;
        Key key;
        std::mutex making;
        Value value = {};
        bool is_made = false;
        bool is_kept = true;  // in `entries`; this and the weight are the cache's to change
        size_t weight = 0;
    };
    using Entries = std::list<std::shared_ptr<Entry>>;

    std::shared_ptr<Entry> entry_for(uint64_t hash, const Key &key) {
        std::lock_guard lock(mutex);
        auto [begin, end] = by_hash.equal_range(hash);
        for (auto i = begin; i != end; ++i) {
            if (!((*i->second)->key == key)) continue;
            entries.splice(entries.begin(), entries, i->second);
            return entries.front();
        }
        auto entry = std::make_shared<Entry>();
        entry->hash = hash;
        entry->key = key;
        entries.push_front(entry);
        by_hash.emplace(hash, entries.begin());
        shrink();
        return entry;
    }
    void add_weight(Entry &entry, size_t more) {
        std::lock_guard lock(mutex);
        if (!entry.is_kept) return;
        entry.weight = more;
        weight += more;
        shrink();
    }
    void shrink() {
        while (entries.size() > limit || (weight > most_weight && entries.size() > 1)) {
            const auto last = std::prev(entries.end());
            (*last)->is_kept = false;
            weight -= (*last)->weight;
            auto [i, end] = by_hash.equal_range((*last)->hash);
            while (i != end && i->second != last) ++i;
            by_hash.erase(i);
            entries.pop_back();
        }
    }

    mutable std::mutex mutex;
    size_t limit;
    size_t most_weight = std::numeric_limits<size_t>::max(), weight = 0;
    Weigh weigh;
    Entries entries;  // the one used last first
    std::unordered_multimap<uint64_t, typename Entries::iterator> by_hash;
};

}  // namespace tessera
