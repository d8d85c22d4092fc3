/*
 * steering.h - what a person does to a crawl while it runs.
 *
 * A process would take these acts from DIR/control; here a thread of the
 * process calls what the handlers of that socket call.
 */
#ifndef URLWEIR_TESTS_SIM_STEERING_H
#define URLWEIR_TESTS_SIM_STEERING_H

struct crawls;

/* The registry can be called from now on, until steering_end. */
void steering_begin(struct crawls *);
void steering_end(void);

#endif
