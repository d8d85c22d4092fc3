/* SPDX-License-Identifier: MIT */
/*
 * block.c - the 512-bit block all Bloom kinds are made of.
 *
 * Keys are uniformly random already (base/digest.h), so the marks need no
 * hashing, only independence from the bits that chose the block. Marks come in
 * groups of 8, one a lane, by double hashing (Kirsch & Mitzenmacher, Less
 * Hashing, Same Performance, 2006), with one word standing for 8 hashes:
 *
 *     h1 = key * C1        h2 = (h1 ^ h1 >> 32) * C2        g_i = h1 + i * h2
 *
 *     g_i:  63..58  57..52  ..  21..16   15     14..0
 *           lane 7  lane 6      lane 0   half   unused
 *
 * The top bits of a product depend on all bits below, so keys that share the
 * high bits (those of one block) still differ in every lane. When k is no
 * multiple of 8 the last group marks lanes 0-3 or 4-7 only, as `half` of h1
 * says: the lanes then stay evenly filled, and AVX2 need not shuffle.
 *
 * Vector loads and stores of aligned 8-byte lanes are not torn within a lane on
 * x86-64, which is all that relaxed atomics promise. ThreadSanitizer cannot
 * know that; its builds take the scalar path, where each access is an explicit
 * atomic.
 */

#include "filter/block.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/status.h"
#include "filter/sizing.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_X86 1
#else
#define HAVE_X86 0
#endif

#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_TSAN 1
#endif
#endif
#ifndef UNDER_TSAN
#define UNDER_TSAN 0
#endif

#define LANE_SHIFT 16
#define LANE_BITS  6

#define INLINE     static inline __attribute__((always_inline))

/* ---- one lane after the other ---- */

/* The lanes that a group of marks falls into: all, or half in the last
 * group. */
struct span {
    unsigned first, behind;
};

INLINE struct span lanes_of(struct block_hashes h, unsigned marks_left)
{
    unsigned first = marks_left < BLOCK_LANES ? block_half(h) * 4 : 0;

    return (struct span){first,
                         marks_left < BLOCK_LANES ? first + 4 : BLOCK_LANES};
}

INLINE void scalar_test_k(unsigned k, uint64_t *const *at, const uint64_t *keys,
                          size_t n, bool *all)
{
    for (size_t i = 0; i < n; i++) {
        struct block_hashes h = block_hashes(keys[i]);
        uint64_t set = 1;

        for (unsigned g = 0; g * BLOCK_LANES < k; g++) {
            struct span s = lanes_of(h, k - g * BLOCK_LANES);

            for (unsigned j = s.first; j < s.behind; j++)
                set &= __atomic_load_n(at[i] + j, __ATOMIC_RELAXED) >>
                       block_cell(h, g, j);
        }
        all[i] = set & 1;
    }
}

INLINE void scalar_set_k(unsigned k, uint64_t *const *at, const uint64_t *keys,
                         size_t n, bool *fresh)
{
    for (size_t i = 0; i < n; i++) {
        struct block_hashes h = block_hashes(keys[i]);
        uint64_t set = 1;

        for (unsigned g = 0; g * BLOCK_LANES < k; g++) {
            struct span s = lanes_of(h, k - g * BLOCK_LANES);

            for (unsigned j = s.first; j < s.behind; j++) {
                unsigned cell = block_cell(h, g, j);
                uint64_t old = __atomic_load_n(at[i] + j, __ATOMIC_RELAXED);

                set &= old >> cell;
                __atomic_store_n(at[i] + j, old | UINT64_C(1) << cell,
                                 __ATOMIC_RELAXED);
            }
        }
        fresh[i] = (set & 1) == 0;
    }
}

/* The usual values of k are compile-time constants here, so that the loops over
 * groups unroll. */
#define FOR_EACH_K(call)                                                       \
    do {                                                                       \
        if (k == 8)                                                            \
            call(8, at, keys, n, out);                                         \
        else if (k == 16)                                                      \
            call(16, at, keys, n, out);                                        \
        else                                                                   \
            call(k, at, keys, n, out);                                         \
    } while (0)

static void scalar_test(unsigned k, uint64_t *const *at, const uint64_t *keys,
                        size_t n, bool *out)
{
    FOR_EACH_K(scalar_test_k);
}

static void scalar_set(unsigned k, uint64_t *const *at, const uint64_t *keys,
                       size_t n, bool *out)
{
    FOR_EACH_K(scalar_set_k);
}

#if HAVE_X86

/* ---- two halves of four lanes ---- */

#define AVX2   __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f")))

struct halves {
    __m256i low, high;
};

INLINE AVX2 __m256i avx2_group(uint64_t g, unsigned first)
{
    long long s = (long long)(LANE_SHIFT + LANE_BITS * first);
    __m256i shift = _mm256_set_epi64x(s + 18, s + 12, s + 6, s);
    __m256i cell =
        _mm256_and_si256(_mm256_srlv_epi64(_mm256_set1_epi64x((long long)g),
                                           shift),
                         _mm256_set1_epi64x(63));

    return _mm256_sllv_epi64(_mm256_set1_epi64x(1), cell);
}

INLINE AVX2 struct halves avx2_marks(uint64_t key, unsigned k)
{
    struct block_hashes h = block_hashes(key);
    uint64_t g = h.h1;
    struct halves m = {_mm256_setzero_si256(), _mm256_setzero_si256()};

    for (; k >= BLOCK_LANES; k -= BLOCK_LANES, g += h.h2) {
        m.low = _mm256_or_si256(m.low, avx2_group(g, 0));
        m.high = _mm256_or_si256(m.high, avx2_group(g, 4));
    }
    if (k > 0) {
        __m256i upper = _mm256_set1_epi64x(-(long long)block_half(h));

        m.low = _mm256_or_si256(m.low,
                                _mm256_andnot_si256(upper, avx2_group(g, 0)));
        m.high =
            _mm256_or_si256(m.high, _mm256_and_si256(upper, avx2_group(g, 4)));
    }
    return m;
}

INLINE AVX2 void avx2_test_k(unsigned k, uint64_t *const *at,
                             const uint64_t *keys, size_t n, bool *all)
{
    for (size_t i = 0; i < n; i++) {
        struct halves m = avx2_marks(keys[i], k);
        const __m256i *b = (const __m256i *)(const void *)at[i];

        all[i] = (_mm256_testc_si256(_mm256_load_si256(b), m.low) &
                  _mm256_testc_si256(_mm256_load_si256(b + 1), m.high)) != 0;
    }
}

INLINE AVX2 void avx2_set_k(unsigned k, uint64_t *const *at,
                            const uint64_t *keys, size_t n, bool *fresh)
{
    for (size_t i = 0; i < n; i++) {
        struct halves m = avx2_marks(keys[i], k);
        __m256i *b = (__m256i *)(void *)at[i];
        __m256i low = _mm256_load_si256(b), high = _mm256_load_si256(b + 1);

        fresh[i] = (_mm256_testc_si256(low, m.low) &
                    _mm256_testc_si256(high, m.high)) == 0;
        _mm256_store_si256(b, _mm256_or_si256(low, m.low));
        _mm256_store_si256(b + 1, _mm256_or_si256(high, m.high));
    }
}

/* ---- the whole block at once ---- */

INLINE AVX512 __m512i avx512_group(uint64_t g)
{
    __m512i shift = _mm512_set_epi64(58, 52, 46, 40, 34, 28, 22, 16);

    /* The rotation takes its count modulo 64, so no mask is needed. */
    return _mm512_rolv_epi64(_mm512_set1_epi64(1),
                             _mm512_srlv_epi64(_mm512_set1_epi64((long long)g),
                                               shift));
}

INLINE AVX512 __m512i avx512_marks(uint64_t key, unsigned k)
{
    struct block_hashes h = block_hashes(key);
    uint64_t g = h.h1;
    __m512i m = _mm512_setzero_si512();

    for (; k >= BLOCK_LANES; k -= BLOCK_LANES, g += h.h2)
        m = _mm512_or_si512(m, avx512_group(g));
    if (k > 0) {
        __mmask8 half = block_half(h) != 0 ? 0xf0 : 0x0f;

        m = _mm512_mask_or_epi64(m, half, m, avx512_group(g));
    }
    return m;
}

INLINE AVX512 void avx512_test_k(unsigned k, uint64_t *const *at,
                                 const uint64_t *keys, size_t n, bool *all)
{
    for (size_t i = 0; i < n; i++) {
        __m512i m = avx512_marks(keys[i], k);
        __m512i b = _mm512_load_si512(at[i]);

        all[i] = _mm512_cmpneq_epi64_mask(_mm512_and_si512(b, m), m) == 0;
    }
}

INLINE AVX512 void avx512_set_k(unsigned k, uint64_t *const *at,
                                const uint64_t *keys, size_t n, bool *fresh)
{
    for (size_t i = 0; i < n; i++) {
        __m512i m = avx512_marks(keys[i], k);
        __m512i b = _mm512_load_si512(at[i]);

        fresh[i] = _mm512_cmpneq_epi64_mask(_mm512_and_si512(b, m), m) != 0;
        _mm512_store_si512(at[i], _mm512_or_si512(b, m));
    }
}

static AVX2 void avx2_test(unsigned k, uint64_t *const *at,
                           const uint64_t *keys, size_t n, bool *out)
{
    FOR_EACH_K(avx2_test_k);
}

static AVX2 void avx2_set(unsigned k, uint64_t *const *at, const uint64_t *keys,
                          size_t n, bool *out)
{
    FOR_EACH_K(avx2_set_k);
}

static AVX512 void avx512_test(unsigned k, uint64_t *const *at,
                               const uint64_t *keys, size_t n, bool *out)
{
    FOR_EACH_K(avx512_test_k);
}

static AVX512 void avx512_set(unsigned k, uint64_t *const *at,
                              const uint64_t *keys, size_t n, bool *out)
{
    FOR_EACH_K(avx512_set_k);
}

#endif /* HAVE_X86 */

/* ---- choosing an instruction set ---- */

typedef void kernel(unsigned k, uint64_t *const *at, const uint64_t *keys,
                    size_t n, bool *out);

static const struct isa {
    const char *name;
    kernel *test, *set;
} isas[] = {
    [BLOCK_SCALAR] = {"scalar", scalar_test, scalar_set},
#if HAVE_X86
    [BLOCK_AVX2] = {"avx2", avx2_test, avx2_set},
    [BLOCK_AVX512] = {"avx512", avx512_test, avx512_set},
#endif
};

/* Read and written whole; whichever kernel a thread sees gives the same
 * bits. */
static const struct isa *chosen;

static bool has_isa(enum block_isa isa)
{
    if (isa == BLOCK_SCALAR)
        return true;
#if HAVE_X86 && !UNDER_TSAN
    if (isa == BLOCK_AVX2)
        return __builtin_cpu_supports("avx2") != 0;
    if (isa == BLOCK_AVX512)
        return __builtin_cpu_supports("avx512f") != 0;
#endif
    return false;
}

bool block_use(enum block_isa isa)
{
    if (!has_isa(isa))
        return false;
    __atomic_store_n(&chosen, &isas[isa], __ATOMIC_RELAXED);
    return true;
}

static const struct isa *best(void)
{
    const struct isa *c = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

    if (c == NULL) {
        if (!block_use(BLOCK_AVX512) && !block_use(BLOCK_AVX2))
            (void)block_use(BLOCK_SCALAR);
        c = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    }
    return c;
}

const char *block_isa_name(void)
{
    return best()->name;
}

void block_test(unsigned k, uint64_t *const *at, const uint64_t *keys, size_t n,
                bool *all)
{
    best()->test(k, at, keys, n, all);
}

void block_set(unsigned k, uint64_t *const *at, const uint64_t *keys, size_t n,
               bool *fresh)
{
    best()->set(k, at, keys, n, fresh);
}

/* ---- octets ---- */

static uint64_t little_endian(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(v);
#else
    return v;
#endif
}

void block_export(unsigned char *to, const uint64_t *from, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t v = little_endian(__atomic_load_n(from + i, __ATOMIC_RELAXED));

        memcpy(to + i * 8, &v, 8);
    }
}

enum status block_append(struct buf *to, const uint64_t *words, size_t n)
{
    char *room = buf_room(to, n * 8);

    if (room == NULL)
        return STATUS_NOMEM;
    block_export((unsigned char *)room, words, n);
    buf_grew(to, n * 8);
    return STATUS_OK;
}

void block_import(uint64_t *to, const unsigned char *from, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t v;

        memcpy(&v, from + i * 8, 8);
        to[i] = little_endian(v);
    }
}

/* ---- a fixed run of blocks, addressed by the top of the key ---- */

/*
 * The top bits of the key choose the block, not a hash of the key: keys in
 * order fall into blocks in order, so a range of keys is enough to refill a
 * damaged unit.
 */

#define UNIT_BLOCKS UINT64_C(1024)
#define FILL_SAMPLE 65536 /* blocks sampled: 4 MiB */

static enum status take_blocks(struct layer *l, uint64_t nblocks, unsigned k,
                               unsigned cells, double load)
{
    int huge;

    l->words = try_pages(nblocks * BLOCK_BYTES, &huge);
    if (l->words == NULL)
        return STATUS_NOMEM;
    l->nblocks = nblocks;
    l->capacity = (uint64_t)((double)nblocks * load);
    l->k = k;
    l->cells = cells;
    l->huge = huge != 0;
    sizing_curve_init(&l->curve, k, cells, load);
    return STATUS_OK;
}

enum status layer_init(struct layer *l, uint64_t keys, double fpr,
                       unsigned cells, uint64_t most_bytes)
{
    uint64_t most = most_bytes / BLOCK_BYTES, nblocks;
    unsigned k;
    double load;

    *l = (struct layer){0};
    k = sizing_block_best(cells, fpr, &load);
    nblocks = sizing_blocks(keys, load);
    if (most_bytes > 0 && most == 0)
        return STATUS_LIMIT;
    l->reduced = most > 0 && nblocks > most;
    return take_blocks(l, l->reduced ? most : nblocks, k, cells, load);
}

enum status layer_init_shaped(struct layer *l, uint64_t nblocks, uint64_t k,
                              double fpr, unsigned cells, uint64_t most)
{
    *l = (struct layer){0};
    if (nblocks < 1 || nblocks > most / BLOCK_BYTES || k < 4 ||
        k > SIZING_MOST_K || k % 4 != 0)
        return STATUS_FORMAT;
    return take_blocks(l, nblocks, (unsigned)k, cells,
                       sizing_block_load((unsigned)k, cells, fpr));
}

void layer_fini(struct layer *l)
{
    mem_free_pages(l->words, l->nblocks * BLOCK_BYTES);
    *l = (struct layer){0};
}

void layer_place(const struct layer *l, const uint64_t *keys, size_t n,
                 uint64_t **at)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = l->words + block_index(keys[i], l->nblocks) * BLOCK_LANES;
        __builtin_prefetch(at[i]);
    }
}

bool layer_merge(struct layer *into, const struct layer *from)
{
    if (into->nblocks != from->nblocks || into->k != from->k)
        return false;
    for (uint64_t i = 0; i < into->nblocks * BLOCK_LANES; i++)
        __atomic_store_n(into->words + i, into->words[i] | from->words[i],
                         __ATOMIC_RELAXED);
    return true;
}

/* ---- how full ---- */

/* Cells of `word` that are marked: bits, or counters that are not zero. */
static unsigned marked(const struct layer *l, uint64_t word)
{
    if (l->cells == BLOCK_CELLS)
        return (unsigned)__builtin_popcountll(word);
    word |= word >> 1;
    word |= word >> 2;
    return (unsigned)__builtin_popcountll(word & UINT64_C(0x1111111111111111));
}

double layer_fill(const struct layer *l)
{
    uint64_t n = l->nblocks < FILL_SAMPLE ? l->nblocks : FILL_SAMPLE;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n * BLOCK_LANES; i++)
        sum += marked(l, l->words[i]);
    return (double)sum / ((double)n * BLOCK_LANES * l->cells);
}

static double load_of_fill(const struct layer *l, double fill)
{
    return sizing_block_load_of_fill(l->k, l->cells, fill);
}

double layer_rate(const struct layer *l, double fill)
{
    return sizing_curve_rate(&l->curve, load_of_fill(l, fill));
}

uint64_t layer_keys(const struct layer *l, double fill)
{
    return (uint64_t)(load_of_fill(l, fill) * (double)l->nblocks + 0.5);
}

/* ---- units ---- */

uint64_t layer_units(const struct layer *l)
{
    return (l->nblocks + UNIT_BLOCKS - 1) / UNIT_BLOCKS;
}

static uint64_t unit_blocks(const struct layer *l, uint64_t i)
{
    uint64_t left = l->nblocks - i * UNIT_BLOCKS;

    return left < UNIT_BLOCKS ? left : UNIT_BLOCKS;
}

static uint64_t *unit_words(const struct layer *l, uint64_t i)
{
    return l->words + i * UNIT_BLOCKS * BLOCK_LANES;
}

void layer_unit_range(const struct layer *l, uint64_t i, uint64_t *low,
                      uint64_t *high)
{
    uint64_t first = i * UNIT_BLOCKS, behind = first + unit_blocks(l, i);

    *low = block_first_key(first, l->nblocks);
    *high = behind == l->nblocks ? UINT64_MAX
                                 : block_first_key(behind, l->nblocks) - 1;
}

enum status layer_get_unit(const struct layer *l, uint64_t i, struct buf *to)
{
    return block_append(to, unit_words(l, i), unit_blocks(l, i) * BLOCK_LANES);
}

enum status layer_put_unit(struct layer *l, uint64_t i, struct bytes from)
{
    size_t words = unit_blocks(l, i) * BLOCK_LANES;

    if (from.len != words * 8)
        return STATUS_DAMAGED;
    block_import(unit_words(l, i), (const unsigned char *)from.at, words);
    return STATUS_OK;
}

void layer_flood_unit(struct layer *l, uint64_t i)
{
    memset(unit_words(l, i), 0xff, unit_blocks(l, i) * BLOCK_BYTES);
}
