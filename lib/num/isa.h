/* Instruction sets the kernels are written for, and which of them this machine has.
 *
 * No state: the answer comes from the processor at every call, at the cost of a few loads. Every
 * kernel has a portable version, for vectors of 16 bytes as the compiler makes them; tests call
 * each available one by its function and compare it with a scalar reference.
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

/* Whether this program on this machine can run kernels of `isa`. */
int ek_isa_has(enum ek_isa isa);
/* The widest one it has. */
enum ek_isa ek_isa_best(void);
/* "portable", "neon", "avx2", "avx512". */
const char *ek_isa_name(enum ek_isa isa);

#endif
