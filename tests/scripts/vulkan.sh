#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Machines where Vulkan is missing or broken: no loader, something else under its name, a loader that
# is too old, no driver, a driver without devices, Vulkan turned off. Each says why and what to do, and
# other backends work. And with the Khronos validation layer, where it is installed: the tests of the
# backend pass without one message.
set -uo pipefail
bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
complain() {
  echo "$*"
  bad=1
}
expect() { # WHAT WORDS COMMAND...: `vyre devices vulkan` fails with these words
  local what=$1 words=$2 said
  shift 2
  said=$("$@" "$VYRE_BUILD/vyre" devices vulkan 2>&1) && complain "$what: not noticed"
  [[ $said == *"$words"* && $said == *Fix:* ]] || complain "$what: $said"
  "$@" "$VYRE_BUILD/vyre" run examples/saxpy.vyre a=2 x=iota:9 y=ones:9 --print y 2>&1 |
    grep -q 17 || complain "$what: other backends do not work"
}
stand_in() { # NAME: a loader from the C that is read
  mkdir -p "$work/$1"
  cc -shared -fPIC -o "$work/$1/libvulkan.so.1" -x c - 2>&1 || complain "cannot compile $1"
}
# The sanitizer's own libraries must be found with or without LD_LIBRARY_PATH.
with() { env LD_LIBRARY_PATH="$work/$1" "${@:2}"; }

expect "turned off" VYRE_VULKAN=off env VYRE_VULKAN=off
mkdir -p "$work/broken"
: >"$work/broken/libvulkan.so.1"
expect "no loader" "cannot be opened" with broken
stand_in empty <<'END'
int nothing;
END
expect "no function" "no vkGetInstanceProcAddr" with empty
stand_in old <<'END'
void *vkGetInstanceProcAddr(void *instance, const char *name) { return 0; }
END
expect "an old loader" "older than Vulkan 1.1" with old
stand_in none <<'END'
#include <string.h>
#include <stdint.h>
static int version(uint32_t *out) { *out = 1u << 22 | 2u << 12; return 0; }
static int create(const void *info, const void *a, void **out) { *out = &version; return 0; }
static int devices(void *instance, uint32_t *count, void *out) { *count = 0; return 0; }
static int never(void) { return -3; }
void *vkGetInstanceProcAddr(void *instance, const char *name) {
  if (!strcmp(name, "vkEnumerateInstanceVersion")) return version;
  if (!strcmp(name, "vkCreateInstance")) return create;
  if (!strcmp(name, "vkEnumeratePhysicalDevices")) return devices;
  return never;
}
END
expect "no device" "no device" with none
stand_in failing <<'END'
#include <string.h>
#include <stdint.h>
static int version(uint32_t *out) { *out = 1u << 22 | 2u << 12; return 0; }
static int create(const void *info, const void *a, void **out) { return -1; }
void *vkGetInstanceProcAddr(void *instance, const char *name) {
  return !strcmp(name, "vkEnumerateInstanceVersion") ? (void *)version : (void *)create;
}
END
expect "out of memory" OUT_OF_HOST_MEMORY with failing
said=$(env VK_ICD_FILENAMES="$work/nothing.json" VK_DRIVER_FILES="$work/nothing.json" \
  "$VYRE_BUILD/vyre" devices vulkan 2>&1)
[[ $said == *"not usable"* && $said == *Fix:* ]] || complain "no driver: $said"

# Where Vulkan is not used, its loader is not opened.
if command -v ldd >/dev/null; then
  ldd "$VYRE_BUILD/vyre" | grep -qi vulkan && complain "vyre is linked with the Vulkan loader"
fi

# What may be chosen without being named: a GPU, and of CPUs those that VYRE_VULKAN=on asks for. The GPU is
# lavapipe that says so of itself; its memory then is its own.
real=$(ldconfig -p 2>/dev/null | sed -n 's/.*libvulkan\.so\.1 .* => //p' | head -n 1)
if [ -n "$real" ] && "$VYRE_BUILD/vyre" devices vulkan 2>/dev/null | grep -q llvmpipe; then
  stand_in gpu <<END
#include <dlfcn.h>
#include <string.h>
#include <vulkan/vulkan.h>
static PFN_vkGetInstanceProcAddr get;
static PFN_vkGetPhysicalDeviceProperties2 properties;
static void changed(VkPhysicalDevice d, VkPhysicalDeviceProperties2 *p) {
  properties(d, p);
  p->properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
}
PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance i, const char *name) {
  if (!get) get = (PFN_vkGetInstanceProcAddr)dlsym(dlopen("$real", RTLD_NOW), "vkGetInstanceProcAddr");
  PFN_vkVoidFunction found = get(i, name);
  if (strcmp(name, "vkGetPhysicalDeviceProperties2")) return found;
  properties = (PFN_vkGetPhysicalDeviceProperties2)found;
  return (PFN_vkVoidFunction)changed;
}
END
  chosen() { # COMMAND...: what is measured where no backend is named
    "$@" "$VYRE_BUILD/vyre" certify examples/saxpy.vyre a=2 x=rand:4096 y=ones:4096 --json 2>&1
  }
  chosen env -u VYRE_VULKAN | grep -q '"vulkan' && complain "a CPU is chosen without being asked for"
  chosen env VYRE_VULKAN=on | grep -q '"vulkan' || complain "VYRE_VULKAN=on does not let a CPU be chosen"
  chosen with gpu env -u VYRE_VULKAN | grep -q '"vulkan' || complain "a GPU is not chosen"
  env -u VYRE_VULKAN "$VYRE_BUILD/vyre" run examples/saxpy.vyre a=2 x=iota:9 y=ones:9 --print y \
    --backend vulkan 2>&1 | grep -q 17 || complain "a CPU does not run what names it"
  said=$(with gpu env -u VYRE_VULKAN "$VYRE_BUILD/vyre" conform --backend vulkan --suite rows 2>&1) ||
    complain "a GPU's rows: $said"
  with gpu "$VYRE_BUILD/vyre" devices vulkan 2>&1 | grep -q "memory of its own" ||
    complain "a GPU's memory is not its own"
fi

# Two devices: lavapipe's driver twice. Each is listed, chosen by number and by name, compared and
# measured on its own.
driver=$(find /usr/share/vulkan/icd.d /etc/vulkan/icd.d -name 'lvp_icd*.json' 2>/dev/null | head -n 1)
if [ -n "$driver" ]; then
  cp "$driver" "$work/first.json"
  cp "$driver" "$work/second.json"
  both="$work/first.json:$work/second.json"
  said=$(VK_DRIVER_FILES=$both VK_ICD_FILENAMES=$both "$VYRE_BUILD/vyre" devices vulkan --json 2>&1)
  name=$(grep -o '"vulkan-[^"]*-n2"' <<<"$said" | tr -d '"')
  [[ $said == *'"vulkan:2"'* && -n $name ]] || complain "two devices: $said"
  for id in vulkan vulkan:1 vulkan:2 "vulkan:$name"; do
    VK_DRIVER_FILES=$both VK_ICD_FILENAMES=$both "$VYRE_BUILD/vyre" run examples/saxpy.vyre a=2 \
      x=iota:9 y=ones:9 --print y --backend "$id" 2>&1 | grep -q 17 || complain "$id does not run"
  done
  said=$(VK_DRIVER_FILES=$both VK_ICD_FILENAMES=$both "$VYRE_BUILD/vyre" certify examples/saxpy.vyre \
    a=2 x=iota:999 y=ones:999 2>&1)
  [[ $said == *"vulkan "* && $said == *"vulkan:2 "* ]] || complain "not both are measured: $said"
  said=$(VK_DRIVER_FILES=$both VK_ICD_FILENAMES=$both "$VYRE_BUILD/vyre" run examples/saxpy.vyre a=2 \
    x=iota:9 y=ones:9 --backend vulkan:3 2>&1) && complain "a third device runs"
  [[ $said == *"2 devices"*Fix:* ]] || complain "a third device: $said"
fi

# The validation layer writes what it finds to a file. Sanitizers do not go with it.
layer=$(find /usr/share/vulkan /etc/vulkan -name VkLayer_khronos_validation.json 2>/dev/null | head -n 1)
if [ -n "$layer" ] && "$VYRE_BUILD/vyre" devices vulkan >/dev/null 2>&1 &&
  ! grep -q '^VYRE_SANITIZE:[A-Z]*=.' "$VYRE_BUILD/CMakeCache.txt"; then
  cat >"$work/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,info
khronos_validation.log_filename = $work/messages
END
  VK_LAYER_SETTINGS_PATH=$work VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation VYRE_CACHE=off \
    "$VYRE_BUILD/test_vulkan" >"$work/log" 2>&1 || complain "$(tail -n 30 "$work/log")"
  grep -q 'Validation Layer Active' "$work/messages" || complain "the validation layer did not look"
  said=$(grep -A 3 -E '^[^ ]*\((ERROR|WARN)' "$work/messages" | head -n 40)
  [ -z "$said" ] || complain "$said"
fi
exit $bad
