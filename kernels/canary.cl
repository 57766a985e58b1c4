/* Fixed work that tells how steady a device is: a chain of multiply-adds, a copy, and nothing. */

kernel void canary_arithmetic(global float *out, uint rounds)
{
    const uint i = (uint)get_global_id(0);
    const float by = 0.999f, plus = 1e-3f * (float)(i % 7u);
    float x = (float)i * 1e-6f;
    for (uint r = 0; r < rounds; ++r)
        x = mad(x, by, plus);
    out[i] = x;
}

kernel void canary_memory(global const float4 *in, global float4 *out)
{
    const size_t i = get_global_id(0);
    out[i] = in[i] + 1.0f;
}

kernel void canary_launch(global float *out, uint never)
{
    if (never)
        out[get_global_id(0)] = 0.0f;
}
