/* SPDX-License-Identifier: MIT */
/*
 * unit.h - what a file of unit tests is written with.
 *
 * A file tests/unit/.../test_NAME.c is the suite NAME. Its tests register
 * themselves: TEST(name) { ... } is all that one takes. FIXTURE and TIMEOUT
 * hold for the tests below them in the file, up to the next.
 */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>

/* What stands at one line of a suite: a test, run with _i from `from` to below
 * `to`, or else what holds from there on. */
struct unit_line {
    const char *file;
    int line;
    const TTest *test; /* NULL: this is no test */
    int from, to;
    void (*setup)(void), (*teardown)(void); /* both NULL: no fixture */
    double timeout;                         /* seconds; below 0: no change */
    char suite[48];
    struct unit_line *next;
};

void unit_add(struct unit_line *line);

#define UNIT_PASTE2(a, b) a##b
#define UNIT_PASTE(a, b)  UNIT_PASTE2(a, b)
#define UNIT_LINE(name, ...)                                                   \
    __attribute__((constructor)) static void name(void)                        \
    {                                                                          \
        static struct unit_line line;                                          \
        line = (struct unit_line){.file = __FILE__,                            \
                                  .line = __LINE__,                            \
                                  __VA_ARGS__};                                \
        unit_add(&line);                                                       \
    }

#define TEST(name) TEST_LOOP(name, 0, 1)
#define TEST_LOOP(name, first, end)                                            \
    static void name(int _i);                                                  \
    static const TTest name##_test = {#name, name, __FILE__, __LINE__};        \
    UNIT_LINE(name##_added, .test = &name##_test, .from = (int)(first),        \
              .to = (int)(end))                                                \
    static void name(int _i __attribute__((unused)))
/* A test of each entry of a table. */
#define TEST_EACH(name, table)                                                 \
    TEST_LOOP(name, 0, sizeof(table) / sizeof *(table))
#define FIXTURE(before, after)                                                 \
    UNIT_LINE(UNIT_PASTE(fixture_, __LINE__), .setup = before,                 \
              .teardown = after, .timeout = -1)                                \
    struct unit_line
#define TIMEOUT(seconds)                                                       \
    UNIT_LINE(UNIT_PASTE(timeout_, __LINE__), .timeout = seconds)              \
    struct unit_line

/* That a call that answers with a status went well. */
#define ck_ok(call) ck_assert_int_eq(call, STATUS_OK)

#endif
