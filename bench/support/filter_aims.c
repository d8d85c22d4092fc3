/* SPDX-License-Identifier: MIT */
/* filter_aims.c - target figures for filters, and measured ones. */
#include "bench/support/filter_aims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_AIMS 32

static struct aim {
    const char *what, *unit;
    enum aim_side side;
    double measured, aim;
} aims[MOST_AIMS];
static int count;

static bool is_worse(const struct aim *a, double measured)
{
    return a->side == AIM_AT_MOST ? measured > a->measured
                                  : measured < a->measured;
}

static bool is_reached(const struct aim *a)
{
    return a->side == AIM_AT_MOST ? a->measured <= a->aim
                                  : a->measured >= a->aim;
}

void aim_note(const char *what, double measured, enum aim_side side, double aim,
              const char *unit)
{
    for (int i = 0; i < count; i++)
        if (strcmp(aims[i].what, what) == 0) {
            if (is_worse(&aims[i], measured))
                aims[i].measured = measured;
            return;
        }
    if (count == MOST_AIMS)
        abort();
    aims[count++] = (struct aim){what, unit, side, measured, aim};
}

void aims_print(void)
{
    printf("What is to be reached\n\n%-62s %10s    %s\n", "", "measured",
           "aim");
    for (int i = 0; i < count; i++) {
        const struct aim *a = &aims[i];

        printf("%-62s %10.4g    %s %g %s%s\n", a->what, a->measured,
               a->side == AIM_AT_MOST ? "<=" : ">=", a->aim, a->unit,
               is_reached(a) ? "" : "   MISSED");
    }
}
