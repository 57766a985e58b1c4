#include "gpu/cut.h"

/* Of the limit: other parts of the picture may take longer than any so far. */
#define AIM 0.7
/* Nor does a submission have more than so many times the rows of the one before. */
#define GROWTH 4

void cut_begin(struct cut *cut, uint32_t scenes, uint32_t rows)
{
    cut->scenes = scenes;
    cut->rows = rows;
    cut->at = 0;
    cut->before_ns = cut->slowest_ns;
    cut->slowest_ns = 0;
}

static uint64_t rows_in_limit(const struct cut *cut, uint64_t limit_ns)
{
    const double row_ns = cut->slowest_ns > cut->before_ns ? cut->slowest_ns : cut->before_ns;
    const double fit = row_ns > 0 ? AIM * (double)limit_ns / row_ns : 1;
    uint64_t rows = fit < 1 ? 1 : fit < 1e15 ? (uint64_t)fit : UINT64_C(1000000000000000);

    /* What the launch before has shown holds from the first submission on. */
    if (cut->before_ns > 0 && cut->at == 0)
        return rows;
    return cut->at > 0 && rows > GROWTH * cut->last ? GROWTH * cut->last : rows;
}

bool cut_next(struct cut *cut, uint64_t limit_ns, struct cut_piece *piece)
{
    const uint64_t all = (uint64_t)cut->scenes * cut->rows;

    if (cut->at >= all)
        return false;
    const uint64_t wanted = rows_in_limit(cut, limit_ns);
    const uint32_t scene = (uint32_t)(cut->at / cut->rows), row = (uint32_t)(cut->at % cut->rows);
    *piece = (struct cut_piece){.first_scene = scene, .scenes = 1, .first_row = row, .rows = cut->rows - row};
    if (row == 0 && wanted >= cut->rows) {
        const uint64_t whole = wanted / cut->rows, left = cut->scenes - scene;
        piece->scenes = (uint32_t)(whole < left ? whole : left);
    } else if (wanted < piece->rows) {
        piece->rows = (uint32_t)wanted;
    }
    cut->last = (uint64_t)piece->scenes * piece->rows;
    cut->at += cut->last;
    return true;
}

void cut_took(struct cut *cut, uint64_t ns)
{
    const double row_ns = (double)ns / (double)cut->last;

    cut->slowest_ns = row_ns > cut->slowest_ns ? row_ns : cut->slowest_ns;
}
