/* SPDX-License-Identifier: MIT */
/* plot_axis.c - an axis: its range, its ticks, and where a value lies on it. */
#include "cli/report/plot_axis.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends of a range, tick to tick: whole multiples of `step`. */
static void fit_linear(struct plot_axis *a, double low, double high)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    double rough = (high - low) / 5, power = pow(10, floor(log10(rough)));
    double step = 10 * power;

    for (size_t i = 0; i < sizeof nice / sizeof *nice; i++)
        if (nice[i] * power >= rough * (1 - 1e-9)) {
            step = nice[i] * power;
            break;
        }
    a->low = floor(low / step + 1e-9) * step;
    a->high = ceil(high / step - 1e-9) * step;
    for (double i = 0; a->count < PLOT_TICKS; i++) {
        double v = a->low + i * step;

        if (v > a->high + step / 2)
            break;
        a->tick[a->count++] = fabs(v) < step / 1e6 ? 0 : v;
    }
}

/* ..., 1, 2, 5, 10, 20, ...: the value of a place in that row. */
static double step_value(long place)
{
    static const double step[] = {1, 2, 5};
    long i = (place % 3 + 3) % 3, decade = (place - i) / 3;

    return step[i] * pow(10, (double)decade);
}

/* The last place whose value is not above `v`. */
static long step_below(double v)
{
    long place = 3 * (long)floor(log10(v)) + 3;

    while (step_value(place) > v * (1 + 1e-9))
        place--;
    return place;
}

/* The range ends at a 1, 2 or 5. All of these are ticks if there are few, else
 * only powers of ten, or every second or third power if there are many. */
static void fit_log(struct plot_axis *a, double low, double high)
{
    long first = step_below(low), last = step_below(high), every;

    last += step_value(last) < high * (1 - 1e-9);
    every = last - first > 36 ? 9 : last - first > 21 ? 6 : 3;
    every = last - first <= 7 ? 1 : every;
    a->low = step_value(first);
    a->high = step_value(last);
    for (long p = first; p <= last && a->count < PLOT_TICKS; p++)
        if (p % every == 0)
            a->tick[a->count++] = step_value(p);
}

void plot_axis_fit(struct plot_axis *a, double low, double high, bool log)
{
    *a = (struct plot_axis){.log = log};
    if (log) {
        if (!(high > low * 1.0001)) {
            low /= 2;
            high *= 2;
        }
        fit_log(a, low, high);
        return;
    }
    if (!(high > low))
        high = low + (low != 0 ? fabs(low) : 1);
    fit_linear(a, low, high);
}

double plot_axis_at(const struct plot_axis *a, double value)
{
    double at;

    if (a->log)
        at = value > a->low ? log(value / a->low) / log(a->high / a->low) : 0;
    else
        at = (value - a->low) / (a->high - a->low);
    return at < 0 ? 0 : at > 1 ? 1 : at;
}

/* "%g" writes 1e-06; this leaves out the zero. */
static void add_short(struct buf *out, double value)
{
    char text[32];
    char *e;

    snprintf(text, sizeof text, "%.4g", value);
    e = strchr(text, 'e');
    if (e == NULL) {
        buf_add_str(out, text);
        return;
    }
    buf_add(out, text, (size_t)(e - text));
    buf_addf(out, "e%ld", strtol(e + 1, NULL, 10));
}

void plot_axis_label(struct buf *out, double value)
{
    static const char units[] = "kMGT";
    size_t unit = 0;

    if (fabs(value) < 1000) {
        add_short(out, value);
        return;
    }
    value /= 1000;
    while (fabs(value) >= 1000 && unit + 2 < sizeof units) {
        value /= 1000;
        unit++;
    }
    add_short(out, value);
    buf_add_char(out, units[unit]);
}
