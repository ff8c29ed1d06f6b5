// SPDX-License-Identifier: MIT
//
// What is wrong with a text is told with its code, at its place, with advice. Each code of text.def
// is triggered here; the place is marked in the text by a `^` that is removed before parsing.
#include "base/error.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "ir/limits.h"
#include "ir/text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

typedef struct wrong_text {
  const char *code;
  const char *text;   // a whole text, or the body of a region when it has no `program`
  const char *advice; // a part of the message
} wrong_text;

#define FN(function, value)                                                                        \
  "program p(a: f32)\nbuffer x: f32[] readwrite\nbuffer h: u32[] readwrite\nfn " function          \
  "\nregion r grid(1) { x[0] = " value " }\n"
#define TUNED(lines) "program p(n: u32)\n" lines "region r grid(1) { }\n"

static const wrong_text wrong_texts[] = {
    // Characters
    {"P001", "x[0] = ^@a\n", "`@` means nothing here"},
    {"P001", "x[0] = ^\"a\n", "no end on its line"},
    {"P011", "x[0] = ^\"a\"\n", "a value was expected"},
    {"P001", "x[0] = a ^\\ 2\n", "means nothing here"},
    {"P001", "x[0] = ^\xc3\xbc\n", "0xc3"},
    {"P001", "x[0] = a // ok \xc3\xbc ^\x01\n", "0x01"},
    {"P001", "x[0] = ^.5\n", "`.` means nothing here"},
    {"P002", "x[0] = ^1.\n", "as in 1.0"},
    {"P002", "h[0] = 12^px\n", "`px` is no suffix"},
    {"P002", "h[0] = 1^f32\n", "with a point, as in 1.0f32"},
    {"P002", "x[0] = 1.5^u32\n", "use f16, f32 or f64"},
    {"P002", "x[0] = 1^bool\n", "no suffix"},
    {"P002", "x[0] = 1^e\n", "`e` is no suffix"},
    {"P002", "h[0] = ^0x\n", "as in 0xff"},
    {"P002", "x[0] = ^0x1.8\n", "as in 0x1.8p0"},
    {"P003", "let ^$ = 1u32\n", "at most 10 digits"},
    {"P003", "let a^$x = 1u32\n", "at most 10 digits"},
    {"P003", "let a^$12345678901 = 1u32\n", "at most 10 digits"},
    {"P003", "program p(^$1: f32)\nregion r grid(1) { }\n", "need a name"},
    {"P003", "program p()\nbuffer ^$1: f32[] read\nregion r grid(1) { }\n", "need a name"},
    {"P003", "program p()\nregion ^r$2 grid(1) { }\n", "remove it"},

    // Structure
    {"P010", "^region r grid(1) { }\nprogram p()\n", "begin with program NAME()"},
    {"P010", "^", "begin with program NAME()"},
    {"P010", "program ^(a: f32)\n", "the program's name"},
    {"P010", "program p^\nregion r grid(1) { }\n", "`(` was expected here"},
    {"P010", "program p(a ^f32)\n", "`:` was expected"},
    {"P010", "program p(a: f32 ^b: f32)\n", "`,` or `)`"},
    {"P010", "program p()\nbuffer x: f32[]^\nregion r grid(1) { }\n", "read, write or readwrite"},
    {"P010", "program p()\n^x = 1\n", "statements stand inside a region"},
    {"P010", "program p()\nregion r ^{ }\n", "`grid` was expected"},
    {"P010", "program p()\nregion r grid(1, 2, 3^, 4) { }\n", "at most three extents"},
    {"P010", "program p()\nregion r grid(1) workgroup(1, 2, 3^, 4) { }\n", "`)` was expected"},
    {"P010", "program p()\nregion r grid(1) workgroup(^n) { }\n", "a plain number"},
    {"P010", "program p()\nregion r grid(1)^\n{ }\n", "on this line"},
    {"P010", "let i ^1\n", "`=` was expected"},
    {"P010", "var v ^1.0\n", "`=` was expected"},
    {"P010", "if a ^= 1.0 { }\n", "compare with `==`"},
    {"P010", "if a < 1.0^\n{ }\n", "on this line"},
    {"P010", "for k ^= 0..n { }\n", "for k in lo..hi"},
    {"P010", "for k in 0 ^to n { }\n", "`..` was expected"},
    {"P010", "x[0 ^= a\n", "`]` was expected"},
    {"P010", "x[0] = min(a, a\n  ^let q = a\n", "close what is open"},
    {"P010", "x[0] = (a^]\n", "`)` was expected"},
    {"P010", "x[0] = x[0^)\n", "`]` was expected"},
    {"P010", "x[0] = (a^, a)\n", "`)` was expected"},
    {"P010", "atomic_add(^h, 1)\n", "an element"},
    {"P010", "atomic_add(h[0]^)\n", "`,` was expected"},
    {"P010", "h[0] = len(^1)\n", "the name of a buffer"},
    {"P010", "array t: f32[^n]\n", "a plain number"},
    {"P010", "let ^1 = a\n", "a name was expected"},
    {"P011", "x[0] =\n  ^}\n", "not `}`"},
    {"P011", "x[0] = a + ^* a\n", "a value was expected here, not `*`"},
    {"P011", "x[0] = ^)\n", "a value was expected"},
    {"P011", "x[0] = ^let\n", "not `let`"},
    {"P011", "x[^] = a\n", "a value was expected"},
    {"P011", "if ^{ }\n", "a value was expected"},
    {"P011", "x[0] = min(a, ^)\n", "a value was expected"},
    {"P012", "x[0] ^+ 1.0\n", "does nothing with it"},
    {"P012", "a^\n", "does nothing with it"},
    {"P012", "^min(a, a)\n", "does nothing with it"},
    {"P012", "^atomic_add(h[0], 1) + 1\n", "does nothing with it"},
    {"P012", "^global_id.x\n", "does nothing with it"},
    {"P012", "^[0] = a\n", "a statement was expected"},
    {"P012", "^) = a\n", "a statement was expected"},
    {"P013", "x[0] = a ^a\n", "on a line of its own"},
    {"P013", "break ^3\n", "on a line of its own"},
    {"P013", "if true { } ^x[0] = a\n", "on a line of its own"},
    {"P013", "x[0] = a^)\n", "on a line of its own"},
    {"P013", "program p() ^buffer x: f32[] read\n", "on a line of its own"},
    {"P014", "x[0] = a\n^shared s: f32[4]\n", "top of its region"},
    {"P014", "^region q grid(1) { }\n", "close the region's brace"},
    {"P014", "program p()\n^program q()\n", "a text of its own"},
    {"P014", "program p()\nregion r grid(1) { }\n^buffer x: f32[] read\n",
     "before the first region"},
    {"P014", "program p()\nregion r grid(1) { }\n^let x = 1u32\n", "before the first region"},
    {"P015", "if true { }\n^else { }\n", "as in `} else {`"},
    {"P015", "for k in 0..n { } ^else { }\n", "does not follow an if"},
    {"P015", "if true { } else { } ^else { }\n", "does not follow an if"},
    {"P016", "^if true {\n", "close it with `}`"},
    {"P016", "program p()\n^region r grid(1) {\n", "close it with `}`"},
    {"P017", "c[0] = a < a ^< a\n", "a < b && b < c"},
    {"P017", "c[0] = a == a ^!= c[1]\n", "a < b && b < c"},
    {"P019", "var v = true; v ^&&= false\n", "x = x && y"},
    {"P019", "var v: u32 = 1; v^++\n", "write += 1"},
    {"P019", "h[0]^--\n", "write -= 1"},
    {"P020", "^do true\n", "in the block of a `while {`"},
    {"P020", "^while { }\n", "no condition"},
    {"P020", "while { do true; ^do false }\n", "once"},
    {"P020", "while { if true { ^do false } }\n", "in the block of a `while {`"},
    {"P021", FN("f(x: f32) -> f32 { for k in 0..3 { ^return x }\nreturn x }", "f(a)"), "`break`"},
    {"P021", FN("^f(x: f32) -> f32 { let y = x }", "f(a)"), "ends without its value"},
    {"P021", FN("f(x: f32) -> f32 { return x; ^return x }", "f(a)"), "behind a return"},
    {"P021", FN("f(x: f32) -> f32 { if x < 0 { } else ^if x > 1 { return x }\nreturn x }", "f(a)"),
     "turn the condition around"},
    {"P021", FN("f(x: f32) -> f32 { ^if x < 0 { if x < 1 { return x } }\nreturn x }", "f(a)"),
     "in a `var`"},
    {"P022", "program p()\ninclude ^\"x.vyre\"\nregion r grid(1) { }\n", "there is no file"},
    {"P010", "program p()\ninclude ^x\nregion r grid(1) { }\n", "include \"path.vyre\""},
    {"P024", FN("f(x: f32) -> f32 { return ^f(x) }", "f(a)"), "write a loop"},
    {"P025", "^printf(\"%d %d\", 1)\n", "2 conversions"},
    {"P025", "printf(\"%d\", 1, ^2)\n", "1 conversion"},
    {"P025", "printf(\"%d\", ^a)\n", "prints integers, and this is f32"},
    {"P025", "printf(^\"%s\", 1)\n", "none of"},
    {"P025", "printf(\"^\\q\", 1)\n", "means nothing"},
    {"P010", "printf(^1)\n", "the format in quotes"},

    // Names
    {"P030", "x[0] = ^y\n", "declare it with `let` or `var`"},
    {"P030", "let value = a; x[0] = ^vlaue\n", "did you mean `value`?"},
    {"P030", "x[0] = ^gloabl_id.x\n", "did you mean `global_id.x`?"},
    // Of two that are as near, the one that begins more alike, or the first; short names must be
    // nearer than long ones, and a name of one letter is near to nothing.
    {"P030", "let bat = a; let car = a; x[0] = ^cat\n", "did you mean `car`?"},
    {"P030", "let car = a; let bat = a; x[0] = ^cat\n", "did you mean `car`?"},
    {"P030", "let qaz = a; let qar = a; x[0] = ^qac\n", "did you mean `qaz`?"},
    {"P030", "let qabxy = a; let qabc = a; x[0] = ^qabd\n", "did you mean `qabc`?"},
    {"P030", "let wxqq = a; x[0] = ^wxyz\n", "did you mean `wxqq`?"},
    {"P030", "let wxyzab = a; x[0] = ^wxyz\n", "did you mean `wxyzab`?"},
    {"P030", "let wxyzabc = a; x[0] = ^wxyz\n", "declare it"},
    {"P030", "let wxyz = a; x[0] = ^wxyzab\n", "did you mean `wxyz`?"},
    {"P030", "let wqq = a; x[0] = ^wxy\n", "declare it"},
    {"P030", "let wx = a; x[0] = ^wxy\n", "did you mean `wx`?"},
    {"P030", "let w = a; x[0] = ^q\n", "declare it"},
    {"P030", "h[0] = ^local_id\n", "name an axis"},
    {"P030", "h[0] = ^ture\n", "did you mean `true`?"},
    {"P030", "if true { let q = a }\nx[0] = ^q\n", "in a block that has ended"},
    {"P030", "for k in 0..n { }\nx[0] = ^k\n", "in a block that has ended"},
    {"P030", "let q = ^q\n", "in its own value"},
    {"P030", "^q = 1.0\n", "declare it"},
    {"P030", "^q[0] = 1.0\n", "declare it"},
    {"P030", "x[0] = ^q[0]\n", "declare it"},
    {"P030", "h[0] = len(^q)\n", "declare it"},
    {"P030", "atomic_add(^q[0], 1)\n", "declare it"},
    {"P030", "program p()\nbuffer x: f32[len(^x)] read\n", "in its own value"},
    {"P030", "program p()\nlet n = 1u32\nregion r grid(^n) { }\n", "as grid(let n = ...; n)"},
    {"P030", "program p()\nregion q grid(1) { let m = 1u32 }\nregion r grid(1) { let k = ^m }\n",
     "in a transient buffer"},
    {"P030", "program p()\nregion r grid(let n = 1u32; n) { let m = ^n }\n", "has ended"},
    {"P031", "let ^a = 1.0f32\n", "choose another name"},
    {"P031", "var v: f32 = 0.0; let ^v = 1.0f32\n", "or assign without `let`"},
    {"P031", "let i = a; if true { let ^i = a }\n", "choose another name"},
    {"P031", "for k in 0..n { for ^k in 0..n { } }\n", "choose another name"},
    {"P031", "shared s: f32[1]; shared ^s: f32[1]\n", "choose another name"},
    {"P031", "program p(a: f32, ^a: f32)\n", "choose another name"},
    {"P031", "program p(a: f32)\nbuffer ^a: f32[] read\n", "choose another name"},
    {"P031", "program p()\nregion r grid(1) { }\nregion ^r grid(1) { }\n", "another region `r`"},
    {"P032", "x[0] = ^x\n", "as in x[i]"},
    {"P032", "^x = 1.0\n", "as in x[i] = v"},
    {"P032", "^a = 1.0\n", "copy the parameter"},
    {"P032", "let q = a; ^q = 1.0\n", "with `var` instead of `let`"},
    {"P032", "x[0] = ^a[0]\n", "remove the index"},
    {"P032", "^a[0] = 1.0\n", "remove the index"},
    {"P032", "array t: f32[4]; h[0] = len(^t)\n", "not a buffer"},
    {"P032", "h[0] = len(^a)\n", "not a buffer"},
    {"P033", "var v: ^float = 0.0\n", "write f32"},
    {"P033", "var v: ^wrong = 0.0\n", "use bool, i8 to i64"},
    {"P033", "var v: ^f23 = 0.0\n", "did you mean `f32`?"},
    {"P033", "program p(a: ^double)\n", "write f64"},
    {"P034", "x[0] = ^foo(a)\n", "call an operation"},
    {"P034", "x[0] = ^float(n)\n", "write f32"},
    {"P034", "h[0] = ^get_global_id(0)\n", "write global_id.x"},
    {"P034", "x[0] = ^fabs(a)\n", "write abs(x)"},
    {"P034", "x[0] = ^a(2)\n", "an operator between"},
    {"P034", "x[0] = ^sqr(a)\n", "did you mean `sqrt`?"},
    {"P034", "x[0] = ^convert(a)\n", "as in f32(x)"},
    {"P034", "x[0] = ^load(x, 0)\n", "as in x[i]"},
    {"P034", "^store(x, 0, a)\n", "as in x[i] = v"},
    {"P035", "x[0] = ^min(a)\n", "`min` takes 2 arguments, and 1 is given"},
    {"P035", "x[0] = ^min(a, a, a)\n", "and 3 are given"},
    {"P035", "x[0] = ^sqrt(\n)\n", "and 0 are given"},
    {"P035", "h[0] = ^as_u32(a, a)\n", "`as_u32` takes 1 argument,"},
    {"P035", "^atomic_cas(h[0], 1)\n", "takes 3 arguments, and 2 are given"},
    {"P035", "^atomic_add(h[0], )\n", "takes 2 arguments, and 1 is given"},
    {"P036", "let ^if = a\n", "a word of the language"},
    {"P036", "let ^true = a\n", "a word of the language"},
    {"P036", "let ^global_id.x = a\n", "a word of the language"},
    {"P036", "program p(^region: f32)\n", "a word of the language"},

    // Values
    {"P050", "let k = ^1\n", "as in 1u32"},
    {"P050", "let k = ^-1.5\n", "as in -1.5f32"},
    {"P050", "let k = ^1 + 2\n", "as in 1u32"},
    {"P050", "var v = ^1\n", "as in var v: f32 = 0"},
    {"P050", "x[0] = f32(^1 + 2)\n", "as in 1u32"},
    {"P050", "if ^1 == 1 { }\n", "as in 1u32"},
    {"P051", "x[0] = a * ^0x10\n", "in decimal, with a point"},
    {"P051", "h[0] = ^2.0\n", "without point and exponent"},
    {"P051", "c[0] = ^1\n", "write true or false"},
    {"P051", "if ^1 { }\n", "write true or false"},
    {"P052", "h[0] = ^4294967296\n", "out of the range of u32"},
    {"P052", "h[0] = ^-1\n", "out of the range of u32"},
    {"P052", "let k = ^128i8\n", "out of the range of i8"},
    {"P052", "let k = ^-129i8\n", "out of the range of i8"},
    {"P052", "let k = ^18446744073709551616u64\n", "out of the range of u64"},
    {"P052", "let k = ^3.5e38f32\n", "out of the range of f32"},
    {"P052", "let k = ^1e309f64\n", "out of the range of f64"},
    {"P052", "x[^-1] = a\n", "out of the range of u32"},
    {"P052", "array t: f32[^4294967296]\n", "out of the range of u32"},
    {"P053", "var v: f32 = ^h[0]\n", "as in f32(x), or declare the name u32"},
    {"P053", "var v: u32 = h[0] ^< 1\n", "declare the name bool"},
    {"P054", "h[0] = ^!h[1]\n", "write `~x`"},
    {"P054", "c[0] = ^~c[1]\n", "write `!x`"},
    {"P054", "c[0] = h[0] ^&& h[1]\n", "write `&` for the bits"},
    {"P054", "c[0] = h[0] ^|| h[1]\n", "write `|` for the bits"},

    // Tunables
    {"P003", TUNED("tunable ^$1: u32 in (1)\n"), "need a name"},
    {"P010", TUNED("tunable T: u32 ^(1)\n"), "`in` was expected"},
    {"P010", TUNED("tunable T: u32 in (1 ^2)\n"), "`)` was expected"},
    {"P011", TUNED("tunable T: u32 in (^)\n"), "a value was expected"},
    {"P014", TUNED("buffer x: u32[] read\n^tunable T: u32 in (1)\n"), "right after the program"},
    {"P014", TUNED("let k = 1u32\n^tunable T: u32 in (1)\n"), "right after the program"},
    {"P014", "program p()\nregion r grid(1) { }\n^tunable T: u32 in (1)\n",
     "before the first region"},
    {"P031", TUNED("tunable T: u32 in (1)\ntunable ^T: u32 in (1)\n"), "already declared"},
    {"P032", "program p()\ntunable T: u32 in (1)\nregion r grid(1) {\n ^T = 2\n}\n",
     "into a `var`"},
    {"P034",
     "program p()\nfn f(x: f32) -> f32 { return ^g(x) }\nfn g(x: f32) -> f32 { return x }\n"
     "region r grid(1) { let y = f(1.0) }\n",
     "further down"},
    {"P030", FN("f(x: f32) -> f32 { return ^other }", "f(a)"), "declare it"},
    {"P031", FN("f(x: f32, ^x: f32) -> f32 { return x }", "f(a, a)"), "choose another name"},
    {"P031", FN("f(x: f32) -> f32 { return x }\nfn ^f() { }", "f(a)"), "another function"},
    {"P035", FN("f(x: f32) -> f32 { return x }", "^f(a, a)"), "takes 1 argument, and 2"},
    {"P036", FN("^min(x: f32) -> f32 { return x }", "a"), "choose another name"},
    {"P053", FN("f(x: u32) -> u32 { return x }", "f(^a)"), "argument 1 is f32, and u32 is needed"},
    {"P053", FN("f(x: f32) -> u32 { return ^x }", "f(a)"), "returns u32"},
    {"P053", FN("f(x: f32[]) -> f32 { return x[0] }", "f(^h)"), "pass one of f32[]"},
    {"P010", FN("f(x: f32[]) -> f32 { return x[0] }", "f(^a)"), "a buffer or array"},
    {"P012", FN("f(x: f32) { }", "^f(a)"), "no value"},
    {"P012", FN("f(x: f32) -> f32 { return x }", "a\n^f(a)"), "let it return none"},
    {"P057", "let v = f32x3(1, 2, 3); x[0] = ^v\n", "name a part"},
    {"P057", "let v = f32x3(1, 2, 3); let w = f32x2(0); let q = v ^+ w\n", "v.xy"},
    {"P030", "let v = f32x2(1, 2); x[0] = ^v.z\n", "declare it"},
    {"P057", "let v = f32x2(1, 2); x[0] = (v + v).^z\n", "x and y"},
    {"P057", "var v = f32x2(1, 2); ^v.xx = v\n", "each part once"},
    {"P057", "var v: f32x3 = ^f32x2(1, 2)\n", "of 3 begins with one of 2"},
    {"P057", "var v = f32x3(1, 2, 3); v = ^f32x2(1, 2)\n", "of 2 is assigned to one of 3"},
    {"P057", TUNED("tunable T: ^f32x2 in (1)\n"), "write f32"},
    {"P055", TUNED("tunable T: u32 in (1)\nconst K = ^T + 1\n"), "use no tunables"},
    {"P014", FN("f(v: f32) -> f32 {\n  ^shared s: f32[4]\n  return v\n}", "f(1.0)"),
     "declared in a function"},
    {"P031",
     "program p(printf: u32)\nbuffer x: u32[] readwrite\n^region r grid(1) { printf(\"a\") }\n",
     "needs its name"},
    {"P035", "let v = ^f32x3(1.0, 2.0)\n", "made of 3 numbers, and 2"},
    {"P057", "let v = cross(^a, a)\n", "of three"},
    {"P032", "let v = f32x2(1, 2); ^v.x = 1.0\n", "with `var`"},
    {"P055", "program p(n: u32)\nconst K = ^n\nregion r grid(1) { }\n", "computed when"},
    {"P050", "program p()\nconst K = ^1 + 2\nregion r grid(1) { }\n", "as in 1u32"},
    {"P032", "program p()\nconst K = 1\nregion r grid(1) { ^K = 2 }\n", "copy the constant"},
    {"P010", "c[0] = a < 1 ? true^\n", "as in c ? a : b"},
    {"P051", TUNED("tunable T: u32 in (^1.5)\n"), "without point"},
    {"P052", TUNED("tunable T: u8 in (^256)\n"), "out of the range"},
    {"P055", TUNED("tunable T: u32 in (^1u8)\n"), "u8, and u32 is needed"},
    {"P055", TUNED("tunable T: u32 in (^1 + 1)\n"), "write a number"},
    {"P055", TUNED("tunable T: u32 in (1)\ntunable U: u32 in (^T)\n"), "write a number"},
    {"P055", TUNED("tunable T: u32 in (1) where ^T + 1\n"), "u32, and bool is needed"},
    {"P055", TUNED("tunable T: u32 in (1) where T ^== 1u8\n"), "arithmetic on one type"},
    {"P055", TUNED("tunable T: u32 in (1) where ^sin(1.0f32) < 1.0\n"), "arithmetic on one type"},
    {"P055", TUNED("tunable T: u32 in (1) where ^n < T\n"), "arithmetic on one type"},
    {"P030", TUNED("tunable T: u32 in (1) where T < ^U\ntunable U: u32 in (2)\n"),
     "is not declared"},
    {"P055", "program p()\ntunable T: u8 in (1)\nregion r grid(1) workgroup(^T) { }\n",
     "u8, and u32"},
    {"P055",
     "program p()\ntunable T: u32 in (1)\nregion r grid(1) {\n let k = T\n array t: u32[^k]\n}\n",
     "not known when the text is read"},
    {"P054", TUNED("tunable T: u32 in (1) where ^!T\n"), "write `~x`"},
    {"P056", TUNED("tunable T: u32 = ^3 in (1, 2)\n"), "write one that is"},
    {"V100", TUNED("^tunable T: u32 in (1, 1)\n"), "remove one"},
    {"V101", TUNED("^tunable T: u32 in (1, 2) where T > 1\n"), "choose others"},
    {"P031", TUNED("tunable T: u32 in (1)\nbuffer ^T: u32[] read\n"), "already declared"},

    // The verifier's, at the place of the operation or declaration
    {"V020", "x[0] = a ^+ h[0]\n", "f32 and u32"},
    {"V021", "h[0] = ^sqrt(h[0])\n", "takes floats"},
    {"V023", "^if a { }\n", "compare, as in `x != 0`"},
    {"V024", "x[0] = ^x[a]\n", "as in u32(i)"},
    {"V025", "^x[0] = h[0]\n", "as in f32(x)"},
    {"V028", "var v: f32 = a\n  ^v = h[0]\n", "as in f32(x)"},
    {"V029", "^for k in 0..n by n { }\n", "a literal"},
    {"V004", "^break\n", "into a loop"},
    {"V044", "array ^t: f32[0]\n", "at least 1"},
    {"V066", "if local_id.x == 0 { ^barrier }\n", "move it out"},
    {"V027", "h[0] = ^as_f64(a)\n", NULL},
    {"V047", "program p()\n^transient t: f32[]\nregion r grid(1) { }\n", "no length"},
    {"V063", "program p(f: f32)\n^buffer t: f32[f] read\nregion r grid(1) { }\n", "i32, u32"},
    {"V064", "program p()\nregion r grid(^global_id.x) { }\n", "use parameters"},
    {"V062", "program p()\n^region r grid(1) workgroup(2048) { }\n", "at most 1024"},
    {"V045", "program p()\n^region r grid(1) {\n  shared s: f32[70000]\n}\n", "smaller ones"},
    {"V060", "program p()\n", "add one"},

    // What was expected, what is there, and what to write, as a whole
    {"P010", "program p()\nbuffer x: f32[] ^reed\nregion r grid(1) { }\n",
     "the buffer's access was expected here, not `reed`. Fix: write read, write or readwrite"},
    {"P010", "h[0] = len(^1)\n",
     "the name of a buffer was expected here, not `1`. Fix: write one, as in len(x)"},
    {"P010", "let o = atomic_add(^1, 1)\n",
     "an element was expected here, not `1`. Fix: name one, as in atomic_add(x[i], 1)"},
    {"P010", "let o = atomic_add(h[0]^)\n",
     "`,` was expected here, not `)`. Fix: write the value after the element"},
    {"P010", "let o = a > 0.0 ? a^\n",
     "`:` was expected here, not the end of the line. Fix: write both values, as in c ? a : b"},
    {"P010", "x[0 ^= a\n", "`]` was expected here, not `=`. Fix: write it here"},
    {"P010", "x[0] = (a ^]\n",
     "`)` was expected here, not `]`. Fix: close what is open in this expression"},
    {"P010", FN("f(^1) -> f32 { return 1.0 }", "a"),
     "a parameter was expected here, not `1`. Fix: write its name and type, as in x: f32"},
    {"P010", FN("f(v: f32) -> f32 ^return v", "a"),
     "`{` was expected here, not `return`. Fix: open the function's body on this line"},
    {"P010", FN("^(v: f32) -> f32 { return v }", "a"),
     "the function's name was expected here, not `(`. Fix: write fn NAME(x: f32) -> f32 { }"},
    {"P010", FN("f(m: f32[]) -> f32 { return m[0] }", "f(^1.0)"),
     "a buffer or array was expected here, not `1.0`. Fix: name one: the function takes all of it"},
    {"P010", "program p()\nregion r ^{ }\n",
     "`grid` was expected here, not `{`. Fix: give the region one to three extents: grid(n)"},
    {"P010", "program p()\nregion r grid(1, 2, 3^, 4) { }\n",
     "`)` was expected here, not `,`. Fix: a grid has at most three extents"},
    {"P010", "program p()\nregion r grid(1)^\n{ }\n",
     "`{` was expected here, not the end of the line. Fix: open the region's body on this line"},
    {"P010", "program p()\n^banana\n",
     "a declaration was expected here, not `banana`. Fix: declare a tunable, buffer, transient, "
     "const, fn or region"},
    {"P010", "for k ^of 0..4 { }\n",
     "`in` was expected here, not `of`. Fix: write for k in lo..hi"},
    {"P010", "if a ^= 1.0 { }\n", "`{` was expected here, not `=`. Fix: compare with `==`"},
    {"P010", "if true ^x[0] = 1.0\n",
     "`{` was expected here, not `x`. Fix: open the block on this line"},
    {"P010", "var v: ^1 = 1.0\n", "a type was expected here, not `1`. Fix: write one, as in f32"},
    {"P010", "let ^1 = a\n",
     "a name was expected here, not `1`. Fix: write one; names begin with a letter"},
    {"P010", "program p(a: f32 ^b: f32)\nregion r grid(1) { }\n",
     "`,` or `)` was expected here, not `b`. Fix: put a comma between parameters"},
    {"P010", "printf(^1)\n",
     "the format in quotes was expected here, not `1`. Fix: write printf(\"%f\\n\", x)"},
    {"P010", TUNED("tunable T: u32 ^of (4, 8)\n"),
     "`in` was expected here, not `of`. Fix: list the values, as in tunable TILE: u32 in (4, 8)"},
    {"P010", "program p() fast(^x)\nregion r grid(1) { }\n",
     "a number of ULP was expected here, not `x`. Fix: write a plain number"},
};

// A place in the text: `^` is taken out. 0, 0 when there is none.
static char *take_mark(const char *marked, uint32_t *line, uint32_t *column) {
  char *text = strdup(marked);
  *line = *column = 0;
  char *mark = strchr(text, '^');
  if (!mark) return text;
  *line = 1;
  const char *begin = text;
  for (const char *c = text; c < mark; c++)
    if (*c == '\n') ++*line, begin = c + 1;
  *column = (uint32_t)(mark - begin) + 1;
  memmove(mark, mark + 1, strlen(mark));
  return text;
}

static char *whole_text(const char *text) {
  strbuf s = {0};
  bool is_whole = strstr(text, "program") || strstr(text, "NAME") || !strcmp(text, "^") ||
                  strstr(text, "^region r grid(1) { }\nprogram");
  if (!is_whole)
    strbuf_puts(&s, "program p(a: f32, n: u32)\nbuffer x: f32[] readwrite\n"
                    "buffer h: u32[] readwrite\nbuffer c: bool[] readwrite\n"
                    "region r grid(n) {\n  ");
  strbuf_puts(&s, text);
  // A text that ends inside of a block has no brace for it.
  if (!is_whole && strcmp(text, "^if true {\n") != 0) strbuf_puts(&s, "}\n");
  return strbuf_take(&s, NULL);
}

static void mark_seen(const char *code, bool *seen) {
  for (int i = 0; i < TEXT_CODE_COUNT; i++)
    if (!strcmp(text_rules[i].code, code)) seen[i] = true;
}

// Says what differs and returns false.
static bool check(const wrong_text *w, bool *seen) {
  uint32_t line, column;
  char *marked = whole_text(w->text), *text = take_mark(marked, &line, &column);
  vyre_program *p = NULL;
  vyre_error e = {0};
  vyre_status status = vyre_program_parse(text, strlen(text), "file.vyre", &p, &e);
  free(marked);
  free(text);
  mark_seen(w->code, seen);
  bool is_right = status != VYRE_OK && !p && status == e.status && !strcmp(e.code, w->code) &&
                  e.line == line && e.column == column && !strcmp(e.file, "file.vyre") &&
                  strstr(e.message, ". Fix: ") && (!w->advice || strstr(e.message, w->advice));
  // The caret is below the place.
  if (is_right && line) is_right = strspn(strchr(e.excerpt, '\n') + 1, " ") == column - 1;
  if (!is_right)
    print_error("wanted %s at %u:%u (%s)\n   got %s at %u:%u: %s\n%s\n", w->code, line, column,
                w->advice ? w->advice : "", e.code, e.line, e.column, e.message, e.excerpt);
  vyre_program_release(p);
  return is_right;
}

static void check_big(const char *code, strbuf *s, bool *seen) {
  size_t size;
  char *text = strbuf_take(s, &size);
  vyre_program *p = NULL;
  vyre_error e = {0};
  vyre_program_parse(text, size, NULL, &p, &e);
  assert_null(p);
  assert_string_equal(e.code, code);
  mark_seen(code, seen);
  free(text);
}

static void repeat(strbuf *s, const char *text, int count) {
  for (int i = 0; i < count; i++) strbuf_puts(s, text);
}

#define HEAD "program p()\nbuffer x: f32[] readwrite\nregion r grid(1) {\n"

// What passes a limit: deep nesting, long names, many blocks.
static void check_calls(bool *seen) {
  // Each function calls the one before twice: 2^n calls, of which nothing is left.
  strbuf s = {0};
  strbuf_puts(&s, "program p()\nbuffer x: f32[] readwrite\nfn g0() { }\n");
  for (int i = 1; i <= 31; i++) strbuf_printf(&s, "fn g%d() { g%d(); g%d() }\n", i, i - 1, i - 1);
  strbuf_puts(&s, "region r grid(1) { g31() }\n");
  check_big("P023", &s, seen);
  strbuf_puts(&s, "program p()\nbuffer x: f32[] readwrite\nfn g0() { }\n");
  for (int i = 1; i <= 40; i++) strbuf_printf(&s, "fn g%d() { g%d() }\n", i, i - 1);
  strbuf_puts(&s, "region r grid(1) { g40() }\n");
  check_big("P023", &s, seen);
}

static void check_limits(bool *seen) {
  static const char *const openings[] = {"(", "abs(", "-", "x[", "!", "fma(1.0, ", "atomic_add(x["};
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
    strbuf s = {0};
    strbuf_puts(&s, HEAD "x[0] = ");
    repeat(&s, openings[i], 100000);
    check_big("P018", &s, seen);
  }
  strbuf s = {0};
  strbuf_puts(&s, "program ");
  repeat(&s, "a", 256);
  check_big("P003", &s, seen);
  strbuf_puts(&s, HEAD);
  repeat(&s, "if true {\n", 100000);
  check_big("P016", &s, seen);
  strbuf_puts(&s, HEAD);
  repeat(&s, "if true {\n", 129);
  repeat(&s, "}\n", 130);
  check_big("V005", &s, seen);
  strbuf_puts(&s, HEAD "if true {\n");
  repeat(&s, "} else if true {\n", 128);
  repeat(&s, "}\n", 2);
  check_big("V005", &s, seen);
  // Nothing of the text is looked at.
  vyre_program *p;
  vyre_error e;
  assert_int_equal(vyre_program_parse("", LIMIT_SOURCE_BYTES + 1, NULL, &p, &e), VYRE_ERROR_LIMIT);
  assert_string_equal(e.code, "P004");
  seen[TEXT_P004] = true;
}

static void faults_are_told_at_their_place(void **state) {
  (void)state;
  bool seen[TEXT_CODE_COUNT] = {false};
  bool is_right = true;
  for (size_t i = 0; i < sizeof wrong_texts / sizeof *wrong_texts; i++)
    is_right &= check(&wrong_texts[i], seen);
  assert_true(is_right);
  check_limits(seen);
  check_calls(seen);
  for (int i = 0; i < TEXT_CODE_COUNT; i++)
    if (!seen[i]) fail_msg("%s (%s) is not tested", text_rules[i].code, text_rules[i].name);
}

// Cut anywhere, or with any one byte changed, a text is a program or an error.
static void damaged_texts(void **state) {
  (void)state;
  const char *text = "program p(a: f32)\nbuffer x: f32[] readwrite // c\n\n"
                     "region r grid(let q = 2u32; q * 2, 3) workgroup(4) { // c\n"
                     "  shared s: f32[4]\n  for k in 0..len(x) by 2 {\n"
                     "    if k < 3 { x[k] = fma(-a, s[k], 1e3) } else if k > 7 { break }\n"
                     "    while {\n let t$2 = x[k]\n do t$2 > 0.5\n }\n  }\n}\n";
  size_t size = strlen(text);
  for (size_t i = 0; i <= size; i++) {
    vyre_program *p = NULL;
    vyre_program_parse(text, i, NULL, &p, NULL);
    vyre_program_release(p);
  }
  static const char bytes[] = " \n$(){}[]\"0.a\x80\xff;=,:/-";
  char *copy = strdup(text);
  for (size_t i = 0; i < size; i++) {
    for (size_t k = 0; k < sizeof bytes; k++) {
      vyre_program *p = NULL;
      copy[i] = bytes[k];
      vyre_program_parse(copy, size, NULL, &p, NULL);
      vyre_program_release(p);
    }
    copy[i] = text[i];
  }
  free(copy);
}

// docs/TEXT.md has a row for each code.
static void codes_are_documented(void **state) {
  (void)state;
  char *page;
  size_t size;
  assert_int_equal(file_read(VYRE_SOURCE_DIR "/docs/TEXT.md", 1 << 20, &page, &size, NULL),
                   VYRE_OK);
  for (int i = 0; i < TEXT_CODE_COUNT; i++) {
    strbuf row = {0};
    strbuf_printf(&row, "| %s | %s | ", text_rules[i].code, text_rules[i].name);
    for (const char *c = text_rules[i].text; *c; c++) {
      if (*c == '|') strbuf_putc(&row, '\\');
      strbuf_putc(&row, *c);
    }
    strbuf_puts(&row, " |\n");
    char *wanted = strbuf_take(&row, NULL);
    if (!strstr(page, wanted)) fail_msg("docs/TEXT.md has no row: %s", wanted);
    free(wanted);
  }
  free(page);
}

static void wrong_calls(void **state) {
  (void)state;
  vyre_program *p;
  char *text;
  assert_int_equal(vyre_program_parse(NULL, 3, NULL, &p, NULL), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_parse("", 0, NULL, NULL, NULL), VYRE_ERROR_ARGUMENT);
  assert_int_equal(vyre_program_parse(NULL, 0, NULL, &p, NULL), VYRE_ERROR_SYNTAX);
  assert_int_equal(vyre_program_print(NULL, &text, NULL, NULL), VYRE_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_are_told_at_their_place),
      cmocka_unit_test(damaged_texts),
      cmocka_unit_test(codes_are_documented),
      cmocka_unit_test(wrong_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
