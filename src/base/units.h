/* Numbers as people read them, and back. All output is independent of the locale (decimal point). */
#ifndef GPUBENCH_BASE_UNITS_H
#define GPUBENCH_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define UNITS_MAX 32 /* bytes that any of the formatters needs */

/* "812 ns", "3.40 us", "12.3 ms", "1.20 s": three significant digits, one unit. */
void units_time(char out[UNITS_MAX], uint64_t ns);
/* Three significant digits without a unit, for a column whose header has it: 0.00345 12.3 845. */
void units_sig3(char out[UNITS_MAX], double value);
/* "512 B", "12.6 MB", "6.44 GB" (decimal). */
void units_bytes(char out[UNITS_MAX], uint64_t bytes);
/* "850", "33.3 M". */
void units_count(char out[UNITS_MAX], uint64_t count);
/* "1 triangle", "32 triangles": what: in the singular, at most 10 letters. */
void units_items(char out[UNITS_MAX], uint64_t count, const char *what);
/* "1:02:03", "2:03", "4 s": elapsed and remaining time in progress lines. */
void units_duration(char out[UNITS_MAX], uint64_t ns);

/* The fewest digits that read back to the same finite double; integers up to 2^53 without an exponent. */
#define UNITS_MAX_EXACT (UINT64_C(1) << 53)
void units_exact(char out[UNITS_MAX], double value);
/* The double that the shortest decimal of a float reads as: 0.01 for 0.01f. Prints like the float. */
double units_shortest_float(float value);

/* Whole-string parsers, independent of the locale; false when anything but the number is there, it is
 * not finite, or it is out of range. Bytes take K M G T (decimal) and Ki Mi Gi Ti suffixes. */
bool units_parse_double(const char *s, double *out) GB_NODISCARD;
bool units_parse_u64(const char *s, uint64_t *out) GB_NODISCARD;
bool units_parse_bytes(const char *s, uint64_t *out) GB_NODISCARD;

#endif
