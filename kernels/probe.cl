/* Does nothing, in as many work-groups as a device takes: drivers do not tell how many those are. The last
 * group says that it ran. */
kernel void probe(global uint *out)
{
    uint x = (uint)get_group_id(0), y = (uint)get_group_id(1), z = (uint)get_group_id(2);
    if (x + 1u == (uint)get_num_groups(0) && y + 1u == (uint)get_num_groups(1) && z + 1u == (uint)get_num_groups(2)) {
        out[0] = x;
        out[1] = y;
        out[2] = z;
    }
}
