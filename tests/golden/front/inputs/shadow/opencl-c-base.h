// Has the name of a header of clang, which is not to be taken for it.
#define SHADOWED 1
