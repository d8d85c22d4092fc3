// SPDX-License-Identifier: MIT
//
// peer_rocksdb.cc - RocksDB's full Bloom filter, measured as ours are.
//
//   peer_rocksdb KEYS BITS_PER_KEY ASKED
//
// prints `insert hit miss bits maybes`: ns of CPU a key, bits a key, how many
// of ASKED new keys were "maybe". bench_filter runs it where it was built.
//
// RocksDB's public headers give builder and reader as pointers to classes that
// they only name. What is declared here is the beginning of those classes, as
// the 7.x library lays out their virtual functions; what is built with another
// release, or answers wrongly to keys that were added, ends with status 77.
// C++ because there is no other way to this filter: the C interface reaches it
// through a whole table file only. Keys are 8 octets, hashed by RocksDB itself.
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

#if ROCKSDB_MAJOR != 7
#error "the layout below is that of RocksDB 7"
#endif

// With external linkage: of classes that nobody else can see, the compiler
// would conclude that nothing derives from them.
struct Builder {
    virtual ~Builder() = default;
    virtual void AddKey(const rocksdb::Slice &key) = 0;
    virtual size_t EstimateEntriesAdded() = 0;
    virtual rocksdb::Slice Finish(std::unique_ptr<const char[]> *buf) = 0;
};

struct Reader {
    virtual ~Reader() = default;
    virtual bool MayMatch(const rocksdb::Slice &key) = 0;
    virtual void MayMatchAll(int n, rocksdb::Slice **keys, bool *maybe) = 0;
};

namespace {

constexpr int kBatch = 1024;

double now()
{
    timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// As filter_measure_key().
uint64_t nth_key(uint64_t n)
{
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

// ns a question in batches; `held`: about keys 0 .. held - 1, else new ones.
double ask(Reader *r, uint64_t asked, uint64_t held, uint64_t *maybes)
{
    uint64_t keys[kBatch];
    rocksdb::Slice slices[kBatch], *at[kBatch];
    bool maybe[kBatch];
    double all = 0;

    *maybes = 0;
    for (uint64_t i = 0; i < asked; i += kBatch) {
        for (int j = 0; j < kBatch; j++) {
            uint64_t n = i + static_cast<uint64_t>(j);

            keys[j] = nth_key(held > 0 ? nth_key(n) % held
                                       : (UINT64_C(1) << 62) + n);
            slices[j] = rocksdb::Slice(
                reinterpret_cast<const char *>(&keys[j]), sizeof keys[j]);
            at[j] = &slices[j];
        }
        double t = now();
        // Its readers take at most 32 keys (MultiGetContext::MAX_BATCH_SIZE).
        for (int j = 0; j < kBatch; j += 32)
            r->MayMatchAll(32, at + j, maybe + j);
        all += now() - t;
        for (bool m : maybe)
            *maybes += m;
    }
    return all / static_cast<double>(asked);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4)
        return 1;
    uint64_t keys = strtoull(argv[1], nullptr, 10);
    uint64_t asked = strtoull(argv[3], nullptr, 10), wrong, right;
    std::unique_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(atof(argv[2])));
    rocksdb::BlockBasedTableOptions table;
    rocksdb::FilterBuildingContext context(table);
    auto *builder = reinterpret_cast<Builder *>(
        policy->GetBuilderWithContext(context));
    std::unique_ptr<const char[]> memory;

    double t = now();
    for (uint64_t i = 0; i < keys; i++) {
        uint64_t key = nth_key(i);

        builder->AddKey(rocksdb::Slice(reinterpret_cast<const char *>(&key),
                                       sizeof key));
    }
    if (builder->EstimateEntriesAdded() < keys / 2)
        return 77;
    rocksdb::Slice filter = builder->Finish(&memory);
    double insert = (now() - t) / static_cast<double>(keys);
    auto *reader =
        reinterpret_cast<Reader *>(policy->GetFilterBitsReader(filter));
    double miss = ask(reader, asked, 0, &wrong);
    double hit = ask(reader, asked, keys, &right);

    if (right != asked)
        return 77;
    printf("%.2f %.2f %.2f %.3f %llu\n", insert, hit, miss,
           8.0 * static_cast<double>(filter.size()) / static_cast<double>(keys),
           static_cast<unsigned long long>(wrong));
    return 0;
}
