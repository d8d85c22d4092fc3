/*
 * step_fault.h - makes each statement of some work fail once; the very call
 * that ran it must report the failure.
 */
#ifndef URLWEIR_TESTS_STORAGE_STEP_FAULT_H
#define URLWEIR_TESTS_STORAGE_STEP_FAULT_H

#include <setjmp.h>

#include "tests/unit/storage/scratch.h"

static jmp_buf step_fault_end;

/* Compares what a call returned with what it returns when nothing fails. The
 * first call to report the failure ends the work. */
static inline void step_fault_told(long long is, long long should_be,
                                   const char *call)
{
    if (scratch_step_failed) {
        ck_assert_msg(is == STATUS_IO, "%s answers %lld after a failure", call,
                      is);
        longjmp(step_fault_end, 1);
    }
    ck_assert_msg(is == should_be, "%s is %lld", call, is);
}

#define TELLS(call) step_fault_told((long long)(call), STATUS_OK, #call)

/* Does the work and makes its n-th statement fail. Returns false if it has
 * fewer statements. */
static inline bool step_fault_at(uint64_t n, void (*work)(void *ctx), void *ctx)
{
    bool failed;

    scratch_step_failed = false;
    scratch_steps_left = n;
    if (setjmp(step_fault_end) == 0)
        work(ctx);
    scratch_steps_left = 0;
    failed = scratch_step_failed;
    scratch_step_failed = false;
    return failed;
}

#endif
