/* A float32 as text with the fewest digits that read back to the same float32: 0.01, not 0.00999999978. */
#ifndef GPUBENCH_BASE_FLOAT_TEXT_H
#define GPUBENCH_BASE_FLOAT_TEXT_H

#define FLOAT_TEXT_MAX 24

/* Valid JSON for finite values, whatever the locale; "nan", "inf" and "-inf" otherwise. */
void float_text(char out[FLOAT_TEXT_MAX], float value);

#endif
