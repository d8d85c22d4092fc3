/* SPDX-License-Identifier: MIT */
/* settings_traps.c - which trap rules a crawl goes by, and their thresholds. */
#include <stdlib.h>
#include <string.h>

#include "crawler/html/link_kinds.h"
#include "job/settings/settings.h"

#define THRESHOLD_MOST 1000000

bool settings_trap(const char *text, enum trap_rule *rule, uint32_t *threshold)
{
    const char *eq = strchr(text, '=');
    char *end;
    long n;

    if (eq == NULL ||
        !trap_rule_find(bytes_of(text, (size_t)(eq - text)), rule))
        return false;
    if (strcmp(eq + 1, "off") == 0) {
        *threshold = 0;
        return true;
    }
    if (eq[1] < '0' || eq[1] > '9')
        return false;
    n = strtol(eq + 1, &end, 10);
    *threshold = (uint32_t)n;
    return *end == '\0' && n >= 1 && n <= THRESHOLD_MOST;
}

struct frontier_traps settings_traps(const struct crawl_settings *s)
{
    struct frontier_traps out = {.policy = s->traps,
                                 .exempt = LINK_BIT(LINK_LISTED)};
    enum trap_rule rule;
    uint32_t threshold;

    for (unsigned r = 0; r < TRAP_RULES_; r++)
        out.threshold[r] = trap_rule_default((enum trap_rule)r);
    for (size_t i = 0; i < s->trap.count; i++)
        if (settings_trap(s->trap.item[i], &rule, &threshold))
            out.threshold[rule] = threshold;
    return out;
}
