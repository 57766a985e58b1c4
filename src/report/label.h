/* What tables call devices, points and cells that have no time. */
#ifndef GPUBENCH_REPORT_LABEL_H
#define GPUBENCH_REPORT_LABEL_H

#include "report/number.h"
#include "report/select.h"

#define LABEL_MAX 400

/* "CPU", "H200"; "H200 0:1" where two devices of the run have one short name. */
void label_device(char out[LABEL_MAX], const struct results *results, size_t device);
/* For a column of 80: the same, or its last word where it is longer than six columns ("RTX 4090": "4090"). */
void label_brief(char out[LABEL_MAX], const struct results *results, size_t device);
/* What the two sides of a comparison are called in fields: their devices in brief, their backends where it is
 * one device, "first" and "second" where it is one backend, too. */
void label_sides(char first[LABEL_MAX], char second[LABEL_MAX], const struct results *results,
                 const struct cell *a, const struct cell *b);
/* Where OpenCL has a device, and the code path of its kernels: "[0:0 ptx]"; "[0:0]" where that was not recorded. */
void label_opencl(struct strbuf *out, const struct device_info *info);
/* The device in words, its code path and what runs on it: "AMD EPYC 7763, 2 threads, AVX2"; "NVIDIA H200 [0:0 ptx],
 * fused + ordered". Options in `free`, and those that have their defaults, are left out. */
void label_line(char out[LABEL_MAX], const struct results *results, const struct cell *line, key_set free);
/* The point's keys but those in `free`: "gradient, batch 16, sigma 0.01, random scenes". */
void label_point(char out[LABEL_MAX], const struct results *results, const struct render_spec *spec,
                 key_set free);
/* "64² x 512": where in a line a cell is. */
void label_place(char out[LABEL_MAX], const struct render_spec *spec);

/* What stands in place of a time: "wrong", "skipped", "timeout", ...; "-" for a cell that is not there. */
const char *label_status(const struct cell *cell);

#endif
