// SPDX-License-Identifier: MIT
#include "front/clang/image.h"

#include "front/clang/builtin.h"
#include "front/clang/formula.h"

#include <string.h>

// ---- the interface of the kernel ----------------------------------------------------------------

static const char *given_format(const lowering *l, const char *name) {
  for (uint32_t i = 0; i < l->options->format_count; i++)
    if (!strcmp(l->options->formats[i].name, name)) return l->options->formats[i].format;
  return NULL;
}

static const char *extent_name(lowering *l, const image *i, uint32_t axis) {
  static const char *const names[] = {"width", "height", "depth"};
  return unit_printf(l->u, "%s.%s", i->base->name, axis < i->type->axes ? names[axis] : "layers");
}

// A buffer as long as the extents say, which are parameters.
void image_declare(lowering *l, decl *d, const char *name) {
  base *b = base_new(l, d, FACT_BUFFER);
  image *made = UNIT_NEW(l->u, image);
  const char *format = given_format(l, name);
  b->name = name;
  made->type = d->type;
  made->base = b;
  made->format = format ? image_format_read(l, d->type, format, d->offset)
                        : image_format_default(d->type, b->pixel);
  made->size_count = d->type->axes + (d->type->is_layered ? 1u : 0u);
  ref length = 0;
  for (uint32_t i = 0; i < made->size_count; i++) {
    made->sizes[i] = vyre_build_param(l->b, extent_name(l, made, i), VYRE_U32);
    ref extent = image_extent(l, made, i);
    length = length ? mul(l, length, extent) : extent;
  }
  uint32_t words = image_words(made->format);
  if (words > 1) length = mul(l, length, e_const(l, VYRE_U32, words));
  b->type = type_scalar(l->u, made->format.channel->word);
  b->space = SPACE_GLOBAL;
  b->size = 0;
  b->offset = d->offset;
  b->kind = B_MEMORY;
  b->image = made;
  b->word = made->format.channel->word;
  b->word_bytes = type_bytes(b->word);
  b->mem = vyre_build_buffer(l->b, name, b->word, base_access(b), length);
}

ref image_extent_named(lowering *l, const char *name, size_t size) {
  for (uint32_t i = 0; i < l->kernel->param_count; i++) {
    if (l->kernel->params[i]->type->kind != T_IMAGE) continue;
    const image *im = base_new(l, l->kernel->params[i], FACT_BUFFER)->image;
    for (uint32_t axis = 0; axis < im->size_count; axis++) {
      const char *own = extent_name(l, im, axis);
      if (strlen(own) == size && !memcmp(own, name, size)) return image_extent(l, im, axis);
    }
  }
  return 0;
}

static bool take_word(const char **text, const char *word) {
  size_t size = strlen(word);
  if (strncmp(*text, word, size) || ((*text)[size] && (*text)[size] != ':')) return false;
  *text += size + ((*text)[size] == ':');
  return true;
}

// linear:repeat:normalized, in any order; what is left out is the first of each group.
static uint32_t read_sampler(lowering *l, const char *text, uint32_t offset) {
  static const struct {
    const char *name;
    uint32_t group, bits;
  } words[] = {{"nearest", SAMPLER_NEAREST | SAMPLER_LINEAR, SAMPLER_NEAREST},
               {"linear", SAMPLER_NEAREST | SAMPLER_LINEAR, SAMPLER_LINEAR},
               {"clamp_to_edge", SAMPLER_ADDRESS, SAMPLER_EDGE},
               {"clamp", SAMPLER_ADDRESS, SAMPLER_BORDER},
               {"repeat", SAMPLER_ADDRESS, SAMPLER_REPEAT},
               {"mirrored_repeat", SAMPLER_ADDRESS, SAMPLER_MIRROR},
               {"none", SAMPLER_ADDRESS, 0},
               {"unnormalized", SAMPLER_NORMALIZED, 0},
               {"normalized", SAMPLER_NORMALIZED, SAMPLER_NORMALIZED}};
  uint32_t made = SAMPLER_NEAREST | SAMPLER_EDGE;
  for (const char *at = text; *at;) {
    size_t i = 0, count = sizeof words / sizeof *words;
    while (i < count && !take_word(&at, words[i].name)) i++;
    if (i == count)
      unit_fail(l->u, VYRE_ERROR_BINDING, offset,
                "`%.60s` is no sampler. Fix: join words such as linear:repeat:normalized; "
                "docs/OPENCL.md lists them",
                text);
    made = (made & ~words[i].group) | words[i].bits;
  }
  return made;
}

value sampler_argument(lowering *l, const decl *d, const char *name) {
  const char *format = given_format(l, name);
  uint32_t bits = read_sampler(l, format ? format : "", d->offset);
  return value_number(l, d->type, e_const(l, VYRE_U32, bits));
}

// ---- what the functions share -------------------------------------------------------------------

static const image *image_arg(lowering *l, const node *n, const value *arg) {
  const pointer *p = arg->type->kind == T_IMAGE ? arg->at[0].p : NULL;
  if (!p || p->set->count != 1 || !p->set->at[0]->image)
    unit_fail(l->u, VYRE_ERROR_UNSUPPORTED, n->offset,
              "`%s` of what is not one argument of the kernel is not supported. Fix: pass the "
              "image's own name",
              n->name);
  return p->set->at[0]->image;
}

// An image without a format is what its first use wants, from the next round on; what uses it
// otherwise gets converted numbers.
static void check_format(lowering *l, const node *n, const image *i, vyre_type wanted) {
  base *b = i->base;
  if (!given_format(l, b->name)) {
    if (b->pixel == VYRE_VOID && learn(l)) b->pixel = wanted;
    return;
  }
  if (i->format.channel->pixel == wanted) return;
  const char *kind = wanted == VYRE_F32 ? "f32" : wanted == VYRE_I32 ? "i32" : "u32";
  unit_fail(l->u, VYRE_ERROR_BINDING, n->offset,
            "`%s` of `%s`, whose format is %s. Fix: pass %s=image:%s_%s or the like, or call the "
            "function of that format",
            n->name, b->name, image_format_name(l->u, i->format), b->name, i->format.order->name,
            kind);
}

// As many coordinates as the image has extents.
static void coordinates(lowering *l, const node *n, const image *i, const value *arg, ref *at) {
  if (!type_is_arithmetic(arg->type) || arg->type->leaf_count < i->size_count)
    lower_refuse(l, n->offset, "an image with coordinates of this type", "pass a number per axis");
  bool is_float = type_is_float(arg->type->scalar);
  for (uint32_t k = 0; k < i->size_count; k++)
    at[k] = e_convert(l, is_float ? VYRE_F32 : VYRE_I32, arg->at[k].v);
}

static uint32_t sampler_bits(lowering *l, const node *n, const value *arg) {
  uint64_t bits;
  if (arg->type->is_sampler && e_is_const(l, arg->at[0].v, &bits)) return (uint32_t)bits;
  lower_refuse(l, n->offset, "a sampler that is not known when the kernel is read",
               "declare it in the source, or pass it as an argument");
}

// ---- reading and writing ------------------------------------------------------------------------

static value result(lowering *l, const node *n, const image *i, const pixel *p) {
  value made = value_new(l, n->type, n->offset);
  ref lanes[4];
  pixel_lanes(l, i, p, lanes);
  for (uint32_t k = 0; k < n->type->leaf_count && k < 4; k++)
    made.at[k].v = e_convert(l, n->type->scalar, lanes[k]);
  return made;
}

value image_read(lowering *l, node *n, const value *args, int what) {
  const image *i = image_arg(l, n, &args[0]);
  check_format(l, n, i, (vyre_type)what);
  note(l, &i->base->is_read);
  if (l->loaded) set_push(l, l->loaded, i->base);
  ref at[MOST_AXES];
  coordinates(l, n, i, &args[n->count - 1], at);
  pixel p;
  if (n->count == 3) {
    p = image_sample(l, i, sampler_bits(l, n, &args[1]), at);
  } else {
    ref inside, index = image_place(l, i, at, &inside);
    p = pixel_load(l, i, index, inside);
  }
  return result(l, n, i, &p);
}

value image_write(lowering *l, node *n, const value *args, int what) {
  const image *i = image_arg(l, n, &args[0]);
  check_format(l, n, i, (vyre_type)what);
  note(l, &i->base->is_written);
  ref at[MOST_AXES], lanes[4] = {0}, inside;
  coordinates(l, n, i, &args[1], at);
  if (args[2].type->leaf_count < (i->type->is_depth ? 1 : 4))
    lower_refuse(l, n->offset, "a pixel of this type", "pass a vector of four");
  for (uint32_t k = 0; k < 4 && k < args[2].type->leaf_count; k++)
    lanes[k] = e_convert(l, i->format.channel->pixel, args[2].at[k].v);
  ref index = image_place(l, i, at, &inside);
  vyre_build_if(l->b, inside);
  pixel_store(l, i, index, lanes);
  vyre_build_end(l->b);
  return value_new(l, n->type, n->offset);
}

// ---- what is known of an image ------------------------------------------------------------------

value image_size(lowering *l, node *n, const value *args, int what) {
  const image *i = image_arg(l, n, &args[0]);
  uint32_t number = what == 'l' ? i->type->axes : (uint32_t)what;
  if (number >= i->size_count)
    lower_refuse(l, n->offset, unit_printf(l->u, "`%s` of a `%s`", n->name, i->type->spelling),
                 "ask for an extent that it has");
  return value_scalar(l, e_convert(l, n->type->scalar, image_extent(l, i, number)));
}

value image_dim(lowering *l, node *n, const value *args, int what) {
  (void)what;
  const image *i = image_arg(l, n, &args[0]);
  value made = value_zero(l, n->type, n->offset);
  for (uint32_t k = 0; k < i->type->axes && k < n->type->leaf_count; k++)
    made.at[k].v = e_convert(l, n->type->scalar, image_extent(l, i, k));
  return made;
}

value image_enum(lowering *l, node *n, const value *args, int what) {
  const image *i = image_arg(l, n, &args[0]);
  uint32_t number = what == 'o' ? i->format.order->number : i->format.channel->number;
  return value_scalar(l, e_const(l, n->type->scalar, number));
}
