/* Exponential, reciprocal and inverse root as devices have them in hardware. */
#ifndef GPUBENCH_KERNELS_NATIVE_H
#define GPUBENCH_KERNELS_NATIVE_H

#ifdef PATH_PTX
/* One instruction each; without ftz, each takes three to five more, for denormals that do not occur. */
#define PTX_UNARY(name, instruction)                                                               \
    static inline float name(float x)                                                              \
    {                                                                                              \
        float r;                                                                                   \
        asm(instruction " %0, %1;" : "=f"(r) : "f"(x));                                            \
        return r;                                                                                  \
    }
PTX_UNARY(exp2_of, "ex2.approx.ftz.f32")
PTX_UNARY(RECIPROCAL, "rcp.approx.ftz.f32")
PTX_UNARY(INVERSE_ROOT, "rsqrt.approx.ftz.f32")
#elif defined(ON_CPU) /* where native forms may be estimates of 11 bits */
#define exp2_of(x) exp2(x)
#define RECIPROCAL(x) (1.0f / (x))
#define INVERSE_ROOT(x) rsqrt(x)
#else
/* The native forms are good to 2 ulp on the devices that have them in hardware. */
#define exp2_of(x) native_exp2(x) /* 0 and infinity far out; neither reaches a pixel that is covered */
#define RECIPROCAL(x) native_recip(x)
#define INVERSE_ROOT(x) native_rsqrt(x)
#endif

#endif
