/* What a path's instructions give, by itself: built to find out whether a device has them, and run by
 * gpu/teams.c. One team; out: [0] the number of lanes that are odd, [1] the sum of 1 ... LANES, [2 ... 17] sums
 * of value * LANES, ten on a CPU device, [18 ... 18 + LANES) each lane's rank among the odd ones. */
#include "lanes.h"

kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) IN_TEAMS void lanes(global float *out)
{
    struct team team;
#ifdef PATH_LOCAL
    local uint votes[TEAM_VOTES];
    team.votes = votes;
#endif
#ifdef TEAM_SUMS
    local float sums[TEAM_SUMS] __attribute__((aligned(16)));
    team.sums = sums;
#endif
    team.lane = (uint)get_local_id(0);
    uint total, rank = team_rank(&team, team.lane % 2u == 1u, &total);
    out[18 + team.lane] = (float)rank;
    float sum = team_sum(&team, (float)(team.lane + 1u));
    if (team.lane == 0) {
        out[0] = (float)total;
        out[1] = sum;
    }
    real values[SHARED_SLOT];
    for (uint i = 0; i < SHARED_SLOT; ++i)
        values[i] = (real)((float)(i + 1u));
#ifdef PATH_CPU
    team_store_ten(&team, values, out + 2, true);
#else
    team_store_slot(&team, values, out + 2, true);
#endif
}
