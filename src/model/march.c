#include "model/march.h"

#include <math.h>

/* Chosen for how full lanes are with 128 rays: 44 % in groups of 32, 70 % in groups of 8, 39 % shuffled; a
 * published example has 45, 70 and 39. */
const float march_circles[MARCH_CIRCLES][3] = {
    {2.25f, -2.50f, 1.35f}, {4.00f, 0.50f, 0.55f}, {7.25f, 2.75f, 1.05f},
    {3.50f, 0.50f, 0.65f},  {5.75f, 1.25f, 1.25f},
};

void march_directions(float out[MARCH_RAYS][2])
{
    for (unsigned i = 0; i < MARCH_RAYS; i++) {
        double angle = 1.2 * ((i + 0.5) / MARCH_RAYS - 0.5);
        out[i][0] = (float)cos(angle);
        out[i][1] = (float)sin(angle);
    }
}

static float distance_from(float x, float y)
{
    float nearest = MARCH_WALL - x;

    for (unsigned c = 0; c < MARCH_CIRCLES; c++) {
        float dx = x - march_circles[c][0], dy = y - march_circles[c][1];
        float distance = sqrtf(dx * dx + dy * dy) - march_circles[c][2];
        nearest = distance < nearest ? distance : nearest;
    }
    return nearest;
}

uint32_t march_steps(const float direction[2])
{
    float along = 0;
    uint32_t steps = 0;

    while (steps < MARCH_MAX_STEPS && along <= MARCH_FAR) {
        float distance = distance_from(along * direction[0], along * direction[1]);
        steps++;
        if (distance < MARCH_NEAR)
            break;
        along += distance;
    }
    return steps;
}
