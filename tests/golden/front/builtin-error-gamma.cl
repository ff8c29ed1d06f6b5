// erf, erfc, tgamma and lgamma of double, within 16 units in the last place of exact values (computed
// with 40 digits); of float beside the driver; and special values.
// RUN: vyre run %s:exact wrong=zeros:4 --grid 1 --print wrong
// RUN: vyre run %s:special wrong=zeros:4 --grid 1 --print wrong
// RUN: clcompare %s:errors --grid 4096 --ulp 16 x=rand:4096:-6:12 o=zeros:8192
// RUN: clcompare %s:gammas --grid 4096 --ulp 16 x=rand:4096:0.01:34 o=zeros:8192
// CHECK: 0:  0  0  0  0
// CHECK: 0:  0  0  0  0
// CHECK: errors: ok
// CHECK: gammas: ok
constant double erf_of[][2] = {
    {-0x1.927c804e3683ap+1, -0x1.fffedba99f3f6p-1},
    {0x1.0fbe8e642a2a0p-1, 0x1.181df25468d74p-1},
    {-0x1.8f7f6b2046f68p+0, -0x1.f2034989b1ee9p-1},
    {0x1.3f3e0b36095bcp+0, 0x1.d82a46b1406c0p-1},
    {0x1.8236785f0c150p+0, 0x1.ef2a56e43f023p-1},
    {-0x1.4dac8085dcc94p+2, -0x1.ffffffffffa24p-1},
    {-0x1.75e31148c0e11p+2, -0x1.fffffffffffffp-1},
    {0x1.032d1f0d0bdaap+2, 0x1.ffffffa8366f9p-1},
    {-0x1.71a1da163fd57p+1, -0x1.fffa31fdbd490p-1},
    {-0x1.9811511b2f650p+1, -0x1.ffff24fc6f93cp-1},
    {0x1.7ca7bd64d8a14p+2, 0x1.0000000000000p+0},
    {-0x1.6d66eac1106b0p-2, -0x1.8b75ddb296679p-2},
    {0x1.02670354c3bc4p+2, 0x1.ffffff9eeb8abp-1},
    {-0x1.22925f9e00550p-2, -0x1.3f489160ca2c9p-2},
    {0x1.ab37a2caa1ea8p+0, 0x1.f6a515b79ff74p-1},
    {-0x1.0c539b29bc48fp+2, -0x1.ffffffe5db536p-1},
    {0x1.9e4abcba39160p+0, 0x1.f4af6f385bf4ap-1},
    {0x1.1aa8a6d8e1550p+2, 0x1.fffffffc619e4p-1},
    {0x1.1cd9c856f15b0p-2, 0x1.3951672b1b976p-2},
    {0x1.72901702e87e0p+1, 0x1.fffa726a16439p-1},
    {0x1.56e1fc2f8f359p-997, 0x1.82e6d98711d3ap-997},
    {-0x1.12e0be826d695p-30, -0x1.362a9ffc610ddp-30},
    {0x1.fffffca501acbp-1, 0x1.af76790f7d6bbp-1},
    {0x1.0000000000000p+0, 0x1.af767a741088bp-1},
    {0x1.000001ad7f29bp+0, 0x1.af767bd8a3a10p-1},
    {0x1.8000000000000p+1, 0x1.fffd1ac4135f9p-1},
    {0x1.7fffff29406b3p+1, 0x1.fffd1ac3f4c05p-1},
};
constant double erfc_of[][2] = {
    {0x1.ef867d637c6d0p+3, 0x1.358c37f6fb7d7p-351},
    {-0x1.f9ba2bae63220p+1, 0x1.ffffff9d16a3ap+0},
    {0x1.2436c13d47a1cp+4, 0x1.b45eec5588c65p-487},
    {0x1.9d4935857a1c6p+3, 0x1.c88089f1e9699p-246},
    {0x1.d1fe098f662f8p+1, 0x1.19e2c617cc1cdp-22},
    {-0x1.407ce92d2a7bcp+2, 0x1.fffffffffe6fap+0},
    {0x1.5b2662d13e5e5p+4, 0x1.7e490bad6a8f5p-685},
    {0x1.2418564c20c08p+3, 0x1.b4a30030e4ca6p-125},
    {0x1.1009b07ae3d89p+4, 0x1.053baaf8a4a87p-422},
    {0x1.61f3c058ce943p+4, 0x1.98962a0c525a2p-712},
    {0x1.0da2613270601p+4, 0x1.4ced33675f152p-415},
    {0x1.779a3e9b52e6bp+4, 0x1.7d65d6ae50346p-801},
    {0x1.a8e292ba66768p+2, 0x1.cae227969604dp-68},
    {0x1.3a10b6e4ec168p+4, 0x1.010c91a8fe063p-561},
    {0x1.074abdfb676c8p+3, 0x1.5f1f6fd0979a4p-102},
    {0x1.7f05390895e62p+4, 0x1.c845d22e8aa34p-833},
    {0x1.61facf9764ac9p+4, 0x1.7a8eadae1a3cep-712},
    {-0x1.70d3bfeda0448p+1, 0x1.fffcfc043b888p+0},
    {-0x1.a624a2053d490p+0, 0x1.faf50287bc5e6p+0},
    {0x1.e31d321058740p-1, 0x1.74de02cd186f4p-3},
    {0x1.8e5369ab02b93p+4, 0x1.4dd33ebf3cd03p-900},
    {0x1.fd426ec76abf4p+2, 0x1.c53c37b0fa0afp-96},
    {0x1.c1b016ed78082p+3, 0x1.5ee7367ac1b0ep-290},
    {0x1.d100d8d7a0c70p+1, 0x1.2ac6572884023p-22},
    {0x1.0000000000000p-1, 0x1.eb02147ce245cp-2},
    {0x1.ae147ae147ae1p-1, 0x1.e0fcdbac3969ep-3},
    {0x1.0000000000000p+0, 0x1.4226162fbddd5p-3},
    {0x1.8000000000000p+1, 0x1.729df6503422ap-16},
    {0x1.7fdf3b645a1cbp+1, 0x1.74f5d8dce9891p-16},
    {0x1.12e0be826d695p-30, 0x1.fffffff64eab0p-1},
};
constant double tgamma_of[][2] = {
    {0x1.58ecdbced8764p+6, 0x1.2337e9877ce77p+428},
    {0x1.0663992ccabc1p+6, 0x1.8130286042f9dp+299},
    {0x1.dd3cfeeacc2a8p+5, 0x1.248a45de655f5p+264},
    {0x1.8dd9b35ba4d9dp+6, 0x1.788ccde13fa3dp+514},
    {0x1.8d4a8d57c0bacp+6, 0x1.8c3983fb09a6ap+513},
    {0x1.336db8ddd000dp+7, 0x1.715910caf32b8p+892},
    {0x1.cfbf7349d64d5p+6, 0x1.8ead58fa1cbf4p+625},
    {0x1.3bd76cd537d32p+7, 0x1.1b9b1000e97d8p+923},
    {0x1.232d1af4e2fafp+7, 0x1.ceb32922b8171p+833},
    {0x1.50efbd1abf503p+7, 0x1.8b6699ca4924bp+1000},
    {0x1.c8774c581f80dp+6, 0x1.23a07075e3829p+613},
    {0x1.bba1875d87866p+4, 0x1.c816137ffca5cp+91},
    {0x1.249de410df205p+7, 0x1.0525953f1551ap+839},
    {0x1.47f9a6d80669dp+7, 0x1.822a7007e8d3bp+967},
    {0x1.3398bd0dcee08p+7, 0x1.19d95983120cfp+893},
    {0x1.82fe3bf4d8b08p+6, 0x1.88ef6e49d6a4bp+496},
    {0x1.e5654451b7ec6p+6, 0x1.dc79470bff8b4p+662},
    {0x1.1f2146399b1c6p+5, 0x1.499a9c3cbdeb8p+132},
    {0x1.1abf277cfe394p+7, 0x1.998d89fbb9521p+803},
    {0x1.8600830bb3c47p+6, 0x1.7e4c530effb14p+501},
    {0x1.838aca3b27676p+5, 0x1.c8454888f30c1p+199},
    {0x1.5939bcf7c2ce2p+3, 0x1.0dd359f76b00bp+21},
    {0x1.2257277925b12p+7, 0x1.cec46008e97fep+830},
    {0x1.5088b72d8c933p+7, 0x1.1a136fb479e31p+999},
    {-0x1.23ac990a3c9e7p+4, -0x1.b5aab0a604007p-52},
    {-0x1.fe79d9aaaf250p+1, 0x1.c8244674b4fffp+1},
    {-0x1.794def283b788p+3, 0x1.384a30d29e5a3p-26},
    {-0x1.0fc14cef31eaap+4, -0x1.b043f2fbdf649p-43},
    {-0x1.c3e8dbadd4230p+3, -0x1.311d19821105cp-34},
    {-0x1.27f2463d9184cp+2, -0x1.b291c64e2d108p-5},
    {-0x1.45b76719f24d0p+1, -0x1.d126936621c02p-1},
    {-0x1.31dbf33fcceb2p+4, 0x1.d84f2f351fd86p-55},
    {-0x1.ed65fb2623732p+2, 0x1.7eb9e0efb59acp-13},
    {-0x1.319e7ec8e3478p+4, 0x1.1a057b9336a4dp-54},
    {0x1.0000000000000p-1, 0x1.c5bf891b4ef6bp+0},
    {0x1.0000000000000p+0, 0x1.0000000000000p+0},
    {0x1.0000000000000p+1, 0x1.0000000000000p+0},
    {0x1.4000000000000p+3, 0x1.6260000000000p+18},
    {0x1.3fffffff768fap+3, 0x1.625ffff29cc45p+18},
    {0x1.5700000000000p+7, 0x1.0e1863dcad789p+1023},
    {0x1.56e1fc2f8f359p-997, 0x1.7e43c8800759bp+996},
    {-0x1.0000000000000p-1, -0x1.c5bf891b4ef6bp+1},
};
constant double lgamma_of[][2] = {
    {0x1.67a47ffe09db0p+9, 0x1.f53f9dd17c1bap+11},
    {0x1.4cf616ae465d4p+8, 0x1.8fb9b6617abeep+10},
    {0x1.b8a19c97b1ddfp+9, 0x1.3e46bba30504dp+12},
    {0x1.ea58d01013c7cp+9, 0x1.68c0e3aca0344p+12},
    {0x1.fae773eb27cc5p+8, 0x1.4b020267f3f49p+11},
    {0x1.f341b7b2de7a0p+9, 0x1.706f40d8ccdaep+12},
    {0x1.37bdb503c6c0cp+8, 0x1.711831af06578p+10},
    {0x1.3ef58c3065c07p+6, 0x1.0c27259f8e3c4p+8},
    {0x1.2c7b54a2af8afp+9, 0x1.954157a451a97p+11},
    {0x1.1244df390c7e0p+5, 0x1.5834e3ddcd712p+6},
    {0x1.8f95dd04a0eb5p+7, 0x1.ac6b00e5db090p+9},
    {0x1.99b65b13779a0p+8, 0x1.0099c4bd33256p+11},
    {0x1.7e43c8800759cp+996, 0x1.017f38e7a1ab5p+1006},
    {0x1.56e1fc2f8f359p-997, 0x1.5963447f87fb5p+9},
    {0x1.0000000000000p-1, 0x1.250d048e7a1bdp-1},
    {0x1.4000000000000p+3, 0x1.99a8921a7f7cfp+3},
    {0x1.3fff2e48e8a72p+3, 0x1.99a6b9e0bbd38p+3},
    {-0x1.0000000000000p-1, 0x1.43f89a3f0edd6p+0},
    {-0x1.c000000000000p+1, -0x1.4f1b0fe64a5d8p+0},
    {-0x1.4800000000000p+3, -0x1.c687269b1e743p+3},
    {0x1.4000000000000p+4, 0x1.3ab8153363985p+5},
};

kernel void exact(global int *wrong) {
  for (int i = 0; i < 27; i++)
    if (!(fabs(erf(erf_of[i][0]) - erf_of[i][1]) <= fabs(erf_of[i][1]) * 0x1p-48)) wrong[0]++;
  for (int i = 0; i < 30; i++)
    if (!(fabs(erfc(erfc_of[i][0]) - erfc_of[i][1]) <= fabs(erfc_of[i][1]) * 0x1p-48)) wrong[1]++;
  for (int i = 0; i < 42; i++)
    if (!(fabs(tgamma(tgamma_of[i][0]) - tgamma_of[i][1]) <= fabs(tgamma_of[i][1]) * 0x1p-48)) wrong[2]++;
  for (int i = 0; i < 21; i++)
    if (!(fabs(lgamma(lgamma_of[i][0]) - lgamma_of[i][1]) <= fabs(lgamma_of[i][1]) * 0x1p-48)) wrong[3]++;
}

kernel void special(global int *wrong) {
  double inf = INFINITY;
  int s0, s1, s2, s3;
  wrong[0] += as_ulong(erf(-0.0)) != 0x8000000000000000ul || erf(inf) != 1 || erf(-inf) != -1 || !isnan(erf(NAN));
  wrong[1] += erfc(inf) != 0 || erfc(-inf) != 2 || erfc(0.0) != 1 || !isnan(erfc(NAN)) || erfc(40.0) != 0;
  wrong[2] += tgamma(0.0) != inf || tgamma(-0.0) != -inf || !isnan(tgamma(-3.0)) || tgamma(inf) != inf ||
              !isnan(tgamma(-inf)) || tgamma(200.0) != inf || tgamma(-200.5) != 0 || !isnan(tgamma(NAN));
  wrong[3] += lgamma(0.0) != inf || lgamma(-2.0) != inf || lgamma(inf) != inf || lgamma(-inf) != inf ||
              !isnan(lgamma(NAN)) || fabs(lgamma(1.0)) > 1e-14 || fabs(lgamma(2.0)) > 1e-14;
  lgamma_r(2.5, &s0);
  lgamma_r(-0.5, &s1);
  lgamma_r(-1.5, &s2);
  lgamma_r(-0.0, &s3);
  wrong[3] += s0 != 1 || s1 != -1 || s2 != 1 || s3 != 0;
}

kernel void errors(global const float *x, global float *o) {
  int i = get_global_id(0);
  o[2 * i] = erf(x[i]);
  o[2 * i + 1] = erfc(x[i] * 0.8f);
}

kernel void gammas(global const float *x, global float *o) {
  int i = get_global_id(0);
  o[2 * i] = tgamma(x[i]);
  o[2 * i + 1] = lgamma(x[i] + 2.5f);
}
