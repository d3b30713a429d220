/* Instruction sets of the kernels, and their detection at run time.
 *
 * Detection has no state: each call reads the CPU features at the cost of a few loads. Every kernel
 * has a portable version for 16-byte vectors. Tests compare each available version with a scalar
 * reference.
 */
#ifndef EK_NUM_ISA_H
#define EK_NUM_ISA_H

enum ek_isa {
    EK_ISA_PORTABLE,
    EK_ISA_NEON,
    EK_ISA_AVX2,   /* with FMA */
    EK_ISA_AVX512, /* F, DQ, BW, VL */
    EK_ISAS,
};

/* Return 1 if this program can run kernels of `isa` on this machine, else 0. */
int ek_isa_has(enum ek_isa isa);
/* Return the widest instruction set that this program can run on this machine. */
enum ek_isa ek_isa_best(void);
/* Return "portable", "neon", "avx2" or "avx512", a static string. */
const char *ek_isa_name(enum ek_isa isa);

#endif
