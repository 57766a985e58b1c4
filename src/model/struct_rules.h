/* Where the fields of a structure go by the rules of a language: OpenCL C (vectors are as wide as their
 * alignment, and three-component ones as wide as four; OpenCL C 6.1.5) and WGSL in a storage buffer (a vec3
 * takes 12 bytes at a multiple of 16; WGSL 14.4.1). A matrix is its columns: matCxR is vecR[C]. */
#ifndef GPUBENCH_MODEL_STRUCT_RULES_H
#define GPUBENCH_MODEL_STRUCT_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum struct_rules { RULES_OPENCL, RULES_WGSL };
#define RULES_COUNT 2
const char *rules_name(enum struct_rules rules); /* "OpenCL", "WGSL" */

/* 32-bit scalars alone: u32 and f32 lie alike. */
enum rule_type { RULE_U32, RULE_F32, RULE_VEC2, RULE_VEC3, RULE_VEC4 };

#define RULE_NAME_MAX 32
struct rule_field {
    char name[RULE_NAME_MAX];
    enum rule_type type;
    uint32_t count; /* of an array (a matrix: its columns); 0: no array */
};

/* "u32", "vec3", "vec4[3]". */
void rule_type_text(const struct rule_field *field, char out[RULE_NAME_MAX]);

/* Bytes. padding: between the end of the field before and this one. */
struct rule_place {
    uint32_t offset, size, align, padding;
};

/* places[count], in the order of fields. The structure's size, a multiple of its largest alignment. */
uint32_t rules_place(enum struct_rules rules, const struct rule_field *fields, size_t count,
                     struct rule_place *places);

/* An order with little padding, as indices into fields: order[count]. Always the strictest alignment that
 * fits without a hole, else the smallest hole: of the least size wherever sizes are multiples of alignments,
 * and with vec3 where there are scalars to fill what is behind them. Never larger than the order given. */
void rules_best_order(enum struct_rules rules, const struct rule_field *fields, size_t count, size_t *order);
/* The size of the structure in that order. */
uint32_t rules_size_in_order(enum struct_rules rules, const struct rule_field *fields, size_t count,
                             const size_t *order);

#define RULE_FIELDS_MAX 64
/* Reads "vec3 position, f32 radius, mat3x3 turn, u32[4] ids"; a name may be left out. ERR_USAGE says which
 * part cannot be read and which types there are. */
bool rules_parse(const char *text, struct rule_field fields[RULE_FIELDS_MAX], size_t *count,
                 struct err *err) GB_NODISCARD;

#endif
