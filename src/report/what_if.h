/* What remedies are expected to gain, from the phases of a call without them: a prediction that is written
 * down in the results' head before the remedies are measured. */
#ifndef GPUBENCH_REPORT_WHAT_IF_H
#define GPUBENCH_REPORT_WHAT_IF_H

#include "bench/cell.h"

enum remedy { REMEDY_LOCAL, REMEDY_POOL, REMEDY_LOSS, REMEDY_PINNED, REMEDY_RESIDENT, REMEDIES };

struct remedy_kind {
    const char *name;
    const char *key;    /* of the spec */
    const char *before; /* its value without the remedy, and with it */
    const char *after;
    const char *from; /* the phases that the prediction is made of, and what it assumes */
    bool bound;       /* the phases tell only the most that there is to gain */
};

/* By enum remedy, in the order in which they are shown. */
extern const struct remedy_kind remedy_kinds[REMEDIES];

/* Sets bits (1 << remedy) for names separated by commas. ERR_USAGE names one that is unknown. */
bool remedies_parse(const char *list, unsigned *out, struct err *err) GB_NODISCARD;

/* The value of remedy r's key when, of the remedies in `listed`, those in `applied` are in force. pinned and
 * resident share a key. */
const char *remedy_value(enum remedy r, unsigned listed, unsigned applied);

/* Nanoseconds of a call once the remedies in `applied` are in force: the call's time less the share that they
 * take off the synchronised call's phases. false where the cell has no phases. */
bool remedies_predict(const struct cell *base, unsigned applied, uint64_t *out) GB_NODISCARD;

/* The backend's name in the config and in cell ids: "pool"; "all"; "base" of none. */
const char *remedies_name(unsigned listed, unsigned applied);

/* Appends what is expected of `base` (an id that begins with "base/") with the remedies, to the results'
 * head's "predictions". */
bool prediction_add(struct json *predictions, const struct cell *base, unsigned listed, unsigned applied,
                    struct err *err) GB_NODISCARD;

#endif
