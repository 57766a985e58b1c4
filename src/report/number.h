/* Figures as the tables write them. */
#ifndef GPUBENCH_REPORT_NUMBER_H
#define GPUBENCH_REPORT_NUMBER_H

#include <stdint.h>

#include "report/ratio.h"

#define NUMBER_MAX 64

/* A ratio with two significant digits, two decimals between 1 and 2: 0.42 1.02 3.4 11 640. */
void number_ratio(char out[NUMBER_MAX], double value);
/* The same for a figure in whose neighbourhood nothing is decided: 1.0 where that has 1.02. */
void number_sig2(char out[NUMBER_MAX], double value);
/* "3.4 [3.3,3.5]", all three with the decimals of the first, or one more where the ends would look alike;
 * each with its own where they are far apart: "5.9 [0.21,22]"; "3.4" where there is no interval. */
void number_interval(char out[NUMBER_MAX], const struct ratio *ratio);
/* A relative change of 0.123 as "+12 %", or "12 %" without the sign; "-" where it is not finite. */
void number_percent(char out[NUMBER_MAX], double change, bool sign);
/* An error with two significant digits: 2.2e-5. */
void number_error(char out[NUMBER_MAX], double value);
/* "64²", "96x64". */
void number_size(char out[NUMBER_MAX], uint32_t width, uint32_t height);

/* A unit that suits all times of a column or a pair. */
struct time_unit {
    const char *name; /* "us" */
    double ns;        /* nanoseconds in one */
};
/* By a typical time: the largest unit that leaves it 1 or more; us below a microsecond too. */
struct time_unit number_unit(double typical_ns);
/* Three significant digits in that unit, without its name. */
void number_time(char out[NUMBER_MAX], uint64_t ns, struct time_unit unit);

#endif
