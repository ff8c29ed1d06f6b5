" SPDX-License-Identifier: MIT
" Written by scripts/editor-files.
if exists('b:current_syntax')
  finish
endif

syntax keyword vyreKeyword program buffer transient region shared let var array in by
syntax keyword vyreKeyword fast grid workgroup read write readwrite tunable where const fn
syntax keyword vyreKeyword include printf
syntax keyword vyreControl if else for while do break continue return barrier
syntax keyword vyreConstant true false inf_f16 nan_f16 inf_f32 nan_f32 inf_f64 nan_f64
syntax keyword vyreType bool i8 u8 i16 u16 i32 u32 i64 u64 f32
syntax keyword vyreType f64 f16 boolx2 boolx3 boolx4 i8x2 i8x3 i8x4 u8x2 u8x3
syntax keyword vyreType u8x4 i16x2 i16x3 i16x4 u16x2 u16x3 u16x4 i32x2 i32x3 i32x4
syntax keyword vyreType u32x2 u32x3 u32x4 i64x2 i64x3 i64x4 u64x2 u64x3 u64x4 f16x2
syntax keyword vyreType f16x3 f16x4 f32x2 f32x3 f32x4 f64x2 f64x3 f64x4
syntax keyword vyreFunction add sub mul div rem neg abs min max mulhi
syntax keyword vyreFunction and or xor not shl shr rotl rotr popcount clz
syntax keyword vyreFunction ctz eq ne lt le gt ge select fma sqrt
syntax keyword vyreFunction floor ceil trunc round rint exp exp2 expm1 log log2
syntax keyword vyreFunction log10 log1p sin cos tan asin acos atan atan2 sinh
syntax keyword vyreFunction cosh tanh pow cbrt hypot fmod rsqrt len atomic_add atomic_sub
syntax keyword vyreFunction atomic_min atomic_max atomic_and atomic_or atomic_xor atomic_exchange atomic_cas clamp mix dot
syntax keyword vyreFunction cross length normalize any all as_i8 as_u8 as_i16 as_u16 as_i32
syntax keyword vyreFunction as_u32 as_i64 as_u64 as_f16 as_f32 as_f64
syntax match vyreId /\<\(global_id\|local_id\|group_id\|global_size\|local_size\|group_count\)\.[xyz]\>/
syntax match vyreNumber /\<\d\+\([iu]\d\+\)\?\>/
syntax match vyreNumber /\<0[xX]\x\+\([iu]\d\+\)\?\>/
syntax match vyreFloat /\<\d\+\(\.\d\+\)\?\([eE][-+]\?\d\+\)\?\(f\d\+\)\>/
syntax match vyreFloat /\<\d\+\.\d\+\([eE][-+]\?\d\+\)\?\(f\d\+\)\?\>/
syntax match vyreFloat /\<\d\+[eE][-+]\?\d\+\(f\d\+\)\?\>/
syntax region vyreString start=/"/ skip=/\\./ end=/"/ oneline
syntax match vyreComment /\/\/.*$/ contains=@Spell

highlight default link vyreKeyword Keyword
highlight default link vyreControl Statement
highlight default link vyreConstant Constant
highlight default link vyreType Type
highlight default link vyreFunction Function
highlight default link vyreId Identifier
highlight default link vyreNumber Number
highlight default link vyreFloat Float
highlight default link vyreString String
highlight default link vyreComment Comment

let b:current_syntax = 'vyre'
