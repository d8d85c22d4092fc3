/* SPDX-License-Identifier: MIT */
/* audit_text.c - an audit as text for people, and as JSON for programs. */
#include "cli/audit/audit_text.h"

#include <inttypes.h>
#include <jansson.h>

double audit_bits_per_key(const struct audit_step *s)
{
    return s->keys > 0 ? (double)s->bits / (double)s->keys : 0.0;
}

static void print_step(FILE *to, const char *label, const struct audit_step *s)
{
    fprintf(to,
            "  %-12s %12" PRIu64 " %9" PRIu64 "  %9.3g  %9.3g .. %-9.3g "
            "%9.3g %9.3g %7.2f\n",
            label, s->asked, s->false_positives, s->measured, s->low, s->high,
            s->promised, s->predicted, audit_bits_per_key(s));
}

static void print_series(FILE *to, const struct audit_series *s)
{
    fprintf(to, "\n%s\n  %-12s %12s %9s  %9s  %-22s %9s %9s %7s\n", s->name,
            "URLs up to", "new asked", "false +", "measured", "95 % interval",
            "promised", "predicted", "bits");
    for (size_t i = 0; i < s->count; i++) {
        char label[24];

        snprintf(label, sizeof label, "%" PRIu64, s->steps[i].upto);
        print_step(to, label, &s->steps[i]);
    }
    print_step(to, "all", &s->total);
}

/* Prints all replays side by side, to choose from. */
static void print_replays(FILE *to, const struct audit *a)
{
    fprintf(to, "\n%-32s %11s %9s  %9s  %-22s %9s %7s %7s %7s\n", "replayed",
            "made for", "lost", "measured", "95 % interval", "predicted",
            "bits", "add ns", "ask ns");
    for (size_t i = 0; i < a->what_if_count; i++) {
        const struct audit_series *s = &a->what_if[i];
        const struct audit_step *t = &s->total;

        fprintf(to,
                "%-32s %11" PRIu64 " %9" PRIu64 "  %9.3g  %9.3g .. %-9.3g "
                "%9.3g %7.2f %7.1f %7.1f\n",
                s->name, s->made_for, t->false_positives, t->measured, t->low,
                t->high, t->predicted, audit_bits_per_key(t), s->add_ns,
                s->check_ns);
    }
}

void audit_print_text(FILE *to, const struct audit *a, const char *what)
{
    const struct audit_step *t = &a->crawl.total;

    fprintf(to, "audit of %s\n", what);
    print_series(to, &a->crawl);
    if (a->what_if_count > 0)
        print_replays(to, a);
    fprintf(to,
            "\nA Bloom-only crawler would have lost %" PRIu64 " of %" PRIu64
            " URLs; the exact set caught them.\n",
            t->false_positives, t->asked);
    if (a->links_recorded)
        fprintf(to,
                "%" PRIu64 " of %" PRIu64 " fetched URLs cannot be reached "
                "without those.\n",
                a->only_through_lost, a->fetched);
    else if (a->fetched > 0)
        fprintf(to,
                "%" PRIu64 " of %" PRIu64 " fetched URLs were first found "
                "through one of those (a crawl with --record links knows the "
                "other ways to them).\n",
                a->found_through_lost, a->fetched);
    if (a->filter_checked)
        fprintf(to,
                "False negatives: %" PRIu64 " (each of the %" PRIu64
                " URLs that the filter file covers was asked).\n",
                a->false_negatives, a->filter_covers);
    else
        fprintf(to, "False negatives: not checked, there is no filter file.\n");
    fprintf(to,
            "URLs missing from the exact set: %" PRIu64 " (it holds %" PRIu64
            ").\n",
            a->missing, a->exact_count);
    if (t->asked > 0 && t->promised > 0 && t->low > t->promised)
        fprintf(to, "The measured rate is ABOVE the promise.\n");
}

static json_t *step_json(const struct audit_step *s)
{
    return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o}",
                     "upto", (json_int_t)s->upto, "new", (json_int_t)s->asked,
                     "fpr_measured", s->measured, "fpr_low", s->low, "fpr_high",
                     s->high, "fpr_promised", s->promised, "fpr_predicted",
                     s->predicted, "bits_per_key", audit_bits_per_key(s),
                     "false_positives", (json_int_t)s->false_positives, "fill",
                     s->fill >= 0 ? json_real(s->fill) : json_null());
}

/* Adds the figures that only a replay has. */
static void add_replay(json_t *o, const struct audit_series *s)
{
    json_object_set_new(o, "kind", json_string(s->kind));
    json_object_set_new(o, "fpr", json_real(s->fpr));
    json_object_set_new(o, "made_for", json_integer((json_int_t)s->made_for));
    json_object_set_new(o, "would_have_lost",
                        json_integer((json_int_t)s->total.false_positives));
    json_object_set_new(o, "add_ns", json_real(s->add_ns));
    json_object_set_new(o, "check_ns", json_real(s->check_ns));
}

static json_t *answers_json(const struct audit_answers *a)
{
    return json_pack("{s:I, s:I, s:I, s:I}", "repeats", (json_int_t)a->repeats,
                     "new", (json_int_t)a->fresh, "maybe_known",
                     (json_int_t)a->known, "maybe_new",
                     (json_int_t)a->false_positives);
}

static json_t *series_json(const struct audit_series *s)
{
    json_t *o = step_json(&s->total), *steps = json_array();

    for (size_t i = 0; i < s->count; i++)
        json_array_append_new(steps, step_json(&s->steps[i]));
    json_object_set_new(o, "name", json_string(s->name));
    json_object_set_new(o, "steps", steps);
    if (s->kind != NULL)
        add_replay(o, s);
    return o;
}

void audit_print_json(FILE *to, const struct audit *a, const char *what)
{
    json_t *o = series_json(&a->crawl), *list = json_array();

    for (size_t i = 0; i < a->what_if_count; i++)
        json_array_append_new(list, series_json(&a->what_if[i]));
    json_object_set_new(o, "name", json_string(what));
    json_object_set_new(o, "what_if", list);
    json_object_set_new(o, "answers", answers_json(&a->answers));
    json_object_set_new(o, "false_negatives",
                        json_integer((json_int_t)a->false_negatives));
    json_object_set_new(o, "filter_checked", json_boolean(a->filter_checked));
    json_object_set_new(o, "filter_covers",
                        json_integer((json_int_t)a->filter_covers));
    json_object_set_new(o, "missing", json_integer((json_int_t)a->missing));
    json_object_set_new(o, "exact_count",
                        json_integer((json_int_t)a->exact_count));
    json_object_set_new(o, "would_have_lost",
                        json_integer(
                            (json_int_t)a->crawl.total.false_positives));
    json_object_set_new(o, "fetched", json_integer((json_int_t)a->fetched));
    json_object_set_new(o, "fetched_found_through_lost",
                        json_integer((json_int_t)a->found_through_lost));
    json_object_set_new(o, "fetched_only_through_lost",
                        a->links_recorded
                            ? json_integer((json_int_t)a->only_through_lost)
                            : json_null());
    json_dumpf(o, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', to);
    json_decref(o);
}
