// SPDX-License-Identifier: MIT
//
// What a preprocessor can do right or wrong, in a form that shows it: strings of expanded tokens. Read by
// tests/unit/test_preprocess.c, by the preprocessor in the process and by clang.
#define S(...) #__VA_ARGS__
#define SS(x) S(x)
#define EMPTY
#define ID(x) x
#define TWO(a, b) a b
#define CAT(a, b) a ## b
#define XCAT(a, b) CAT(a, b)
#define F(x) [x G]
#define G(x) {x F}
#define OBJ (1 + OBJ)
#define LP (
#define CALL ID
#define NEG -1
#define STR(x) #x x
#define REST(a, ...) a : __VA_ARGS__
#define Q(x) x ## 1 ## x
#define AB ab_value
#define ARGS 1, 2
#define APPLY(f, x) f(x)
#define HASH # not an operator
#define foo() bar
#define SELF SELF x
#define MUTUAL_A MUTUAL_B a
#define MUTUAL_B MUTUAL_A b
constant char s1[] = SS(ID(1) EMPTY ID( 2 )EMPTY 3);
constant char s2[] = SS(F(1)(2)(3));
constant char s3[] = SS(OBJ ID(OBJ));
constant char s4[] = SS(CALL(7) CALL (8) CALL);
constant char s5[] = SS(-NEG - NEG -EMPTY-1);
constant char s6[] = SS(XCAT(A, B) CAT(A, B) CAT(, x) CAT(x,) CAT(,));
constant char s7[] = SS(Q(y) Q());
constant char s8[] = SS(STR("a\n\"b\"" 'c' '\'' x   y));
constant char s9[] = SS(TWO(ID(f),(1)) TWO(ID,(1)));
constant char s10[] = S(ARGS, ID(ARGS));
constant char s11[] = SS(APPLY(ID, ID(x)) APPLY(G, F));
constant char s12[] = SS(HASH foo() foo ());
constant char s13[] = SS(SELF ID(SELF) ID(ID)(SELF));
constant char s14[] = SS(MUTUAL_A MUTUAL_B);
constant char s15[] = SS(ID(
  spread   over
  /* a comment */ lines  // and another
) after);
constant int after_lines = __LINE__;
constant char s16[] = SS(REST(1, 2,3 , 4)) "more" __FILE__;
constant char s17[] = SS(ID((1, 2)) ID([)ID(])CAT(1.e, 5) CAT(<, <=) CAT(., 5));
constant char s18[] = SS(/**/x/**/y/**/ z . . . .. ... ->* >>= %= ^ ^= ~!);
constant int joined = 1 \
  + 2;
constant int numbers = ID(0x1F)-ID(1)+NEG-NEG+ -NEG;
constant float floats = ID(1.0f)-ID(.5f)+ID(1e-3f);
#define LATE 1
#undef LATE
#define LATE 2
constant int late = LATE;
#if LATE == 2 && defined LATE && !defined(NOT_THERE) && (NOT_THERE + 3 > 2)
#  if 0
  don't "read this
# elif ID(1) - 1
constant int wrong = 1;
# else
constant int right = 1;
# endif
#elif 1 / 0
constant int wrong = 2;
#endif
#if -1 > 0u
constant int unsigned_wins = 1;
#endif
#if (2 - 3 - 4 == -5) && (1 ? 2 : 0) == 2 && (-9 / 2 == -4) && (-9 % 2 == -1) && (-8 >> 1 == -4)
constant int arithmetic = 1;
#endif
#if (1 || 1 / 0) && !(0 && 1 / 0) && ('a' == 97) && 0x7fffffffffffffff + 0 > 0 && 0b101 == 5 && 010 == 8
constant int decided = 1;
#endif
#if __OPENCL_VERSION__ == 120 && CL_VERSION_1_1 <= __OPENCL_C_VERSION__ && defined(cl_khr_fp64)
constant float from_header = M_PI_F * CLK_LOCAL_MEM_FENCE;
#endif
# /* nothing */
# pragma   OPENCL   EXTENSION cl_khr_fp64:enable // a comment
#warning is not shown
kernel void k(global int *o) { o[0] = ID(ID (1)) + XCAT(0, x1)+ +NEG; }
