#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the package `vyre`: pip calls it (PEP 517 and 660), and so do `make python` and `make wheel`:

    build_backend.py stage FOLDER [--build BUILD]    the package below FOLDER, with links to the library
    build_backend.py wheel FOLDER [--build BUILD]    a wheel that needs nothing of this machine's LLVM

The library is what VYRE_BUILD or build/release has; when there is none, CMake builds it in build/pip.
It needs a C compiler and Python's headers, and nothing from elsewhere."""
import argparse
import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
LIBRARY = "libvyre.so.0"
MODULES = ["libvyre-llvm.so", "libvyre-clang.so"]
TAG = "cp39-abi3"
# What every Linux has: such libraries are never taken along.
SYSTEM = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+))\.so")


def fail(text):
    raise SystemExit(f"vyre: {text}")


def version():
    with open(os.path.join(ROOT, "include/vyre/vyre.h")) as f:
        found = re.findall(r"#define VYRE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", f.read())
    return ".".join(found)


def platform_tag():
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")


# ---- the library -----------------------------------------------------------------------------------


def has_library(folder):
    return all(os.path.exists(os.path.join(folder, name)) for name in [LIBRARY] + MODULES)


def find_build(wanted=None):
    """The folder with the library, which is built when there is none."""
    for folder in filter(None, [wanted, os.environ.get("VYRE_BUILD"),
                                os.path.join(ROOT, "build/release")]):
        if has_library(folder):
            return os.path.abspath(folder)
    if wanted:
        fail(f"{wanted} has no {LIBRARY} with its modules. Fix: run make build first")
    folder = os.path.join(ROOT, "build/pip")
    print(f"vyre: building the library in {folder}", file=sys.stderr)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    try:
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", *generator],
                       check=True)
        subprocess.run(["cmake", "--build", folder, "--parallel", "--target", "vyre", "vyre-llvm",
                        "vyre-clang"], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        fail(f"the library could not be built: {error}. Fix: run scripts/install-deps and make build, "
             "and then pip install again")
    return folder


# ---- the extension ---------------------------------------------------------------------------------


def headers():
    """The folders with Python.h of this interpreter; the limited API makes one build do for all."""
    folders = {sysconfig.get_path("include"), sysconfig.get_path("platinclude")}
    if not any(os.path.exists(os.path.join(f, "Python.h")) for f in folders):
        fail(f"{sys.executable} has no Python.h. Fix: install the headers, as with apt-get install "
             "python3-dev")
    return sorted(folders)


def compile_extension(build, target, rpath):
    source = os.path.join(HERE, "src")
    files = sorted(os.path.join(source, f) for f in os.listdir(source) if f.endswith(".c"))
    command = [*os.environ.get("CC", "cc").split(), "-shared", "-fPIC", "-std=c11", "-O2", "-g1",
               "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-missing-field-initializers",
               "-fvisibility=hidden", *os.environ.get("CFLAGS", "").split(),
               "-I" + os.path.join(ROOT, "include"), *("-I" + f for f in headers()), *files,
               "-o", target, os.path.join(build, LIBRARY), "-pthread",
               *(f"-Wl,-rpath,{folder}" for folder in rpath)]
    result = subprocess.run(command)
    if result.returncode:
        fail("the extension could not be compiled; the compiler says why above")


def python_files():
    folder = os.path.join(HERE, "vyre")
    for name in sorted(os.listdir(folder)):
        if name.endswith((".py", ".pyi")) or name == "py.typed":
            yield os.path.join(folder, name)


def is_newer(target, sources):
    try:
        made = os.stat(target).st_mtime
    except OSError:
        return False
    return all(os.stat(s).st_mtime <= made for s in sources)


def stage(folder, build, is_copied):
    """The package below `folder`: the library beside it, copied or linked to where it was built."""
    package = os.path.join(folder, "vyre")
    os.makedirs(package, exist_ok=True)
    os.chmod(folder, 0o755)
    os.chmod(package, 0o755)  # modules in folders that others can write are not loaded
    for path in python_files():
        shutil.copyfile(path, os.path.join(package, os.path.basename(path)))
    for name in [LIBRARY] + MODULES:
        target = os.path.join(package, name)
        if os.path.lexists(target):
            os.unlink(target)
        if is_copied:
            shutil.copyfile(os.path.join(build, name), target)
            os.chmod(target, 0o755)
        else:
            os.symlink(os.path.realpath(os.path.join(build, name)), target)
    extension = os.path.join(package, "_vyre.abi3.so")
    source = os.path.join(HERE, "src")
    sources = [os.path.join(source, f) for f in os.listdir(source)]
    sources += [os.path.join(ROOT, "include/vyre/vyre.h"), os.path.abspath(__file__)]
    if not is_newer(extension, sources):
        made = extension + ".new"
        compile_extension(build, made, ["$ORIGIN"])
        os.replace(made, extension)  # what has the old one open keeps it
    return package


# ---- libraries of other projects -------------------------------------------------------------------


def needed(path):
    """The libraries that a file is linked with, where the loader finds them here: {name: path}."""
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", text, re.M))


def bundle(package):
    """Takes along what the library and the code generator need, and has them look beside themselves.
    What reads OpenCL C stays with the machine's clang: without it, it is declined by name."""
    if not shutil.which("patchelf"):
        fail("there is no patchelf. Fix: apt-get install patchelf")
    inside = os.path.join(package, "lib")
    os.makedirs(inside, exist_ok=True)
    os.chmod(inside, 0o755)
    wanted = {}
    for name in [LIBRARY, "libvyre-llvm.so"]:
        wanted.update(needed(os.path.join(package, name)))
    taken = {name: path for name, path in wanted.items() if not SYSTEM.match(name)}
    for name, path in taken.items():
        target = os.path.join(inside, name)
        shutil.copyfile(os.path.realpath(path), target)
        os.chmod(target, 0o755)
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN", target], check=True)
    for name in [LIBRARY, "libvyre-llvm.so"]:
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/lib",
                        os.path.join(package, name)], check=True)
    return sorted(taken)


# ---- wheels ----------------------------------------------------------------------------------------


def metadata():
    return (f"Metadata-Version: 2.1\nName: vyre\nVersion: {version()}\n"
            "Summary: Data-parallel kernels that give the same bits on every device, and that learn\n"
            "License: MIT\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
            + open(os.path.join(ROOT, "README.md")).read())


def info_files(tag):
    base = f"vyre-{version()}.dist-info"
    return {f"{base}/METADATA": metadata(),
            f"{base}/WHEEL": "Wheel-Version: 1.0\nGenerator: vyre\nRoot-Is-Purelib: false\n"
                             f"Tag: {tag}\n",
            f"{base}/LICENSE": open(os.path.join(ROOT, "LICENSE")).read()}


def record_row(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write_wheel(folder, files, tag, level=None):
    """A wheel of {name: bytes}; returns its file name. LLVM takes seconds to compress as usual."""
    name = f"vyre-{version()}-{tag}.whl"
    files = dict(files)
    files.update({k: v.encode() for k, v in info_files(tag).items()})
    record = f"vyre-{version()}.dist-info/RECORD"
    rows = "".join(record_row(k, v) for k, v in files.items()) + f"{record},,\n"
    files[record] = rows.encode()
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), "w", zipfile.ZIP_DEFLATED) as z:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (2020, 1, 1, 0, 0, 0))  # the same bytes every time
            mode = 0o755 if ".so" in os.path.basename(path) else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, data, compresslevel=level)
    return name


def read_below(folder):
    files = {}
    for where, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(where, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, folder)] = f.read()
    return files


def make_wheel(folder, build=None, is_bundled=False, level=None):
    with tempfile.TemporaryDirectory(prefix="vyre-wheel-") as work:
        package = stage(work, find_build(build), is_copied=True)
        taken = bundle(package) if is_bundled else []
        if taken:
            print("taken along:", " ".join(taken))
        return write_wheel(folder, read_below(work), f"{TAG}-{platform_tag()}", level)


# ---- what pip calls --------------------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return make_wheel(wheel_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The sources in place, with the extension and links to the library beside them."""
    stage_in_place(find_build())
    files = {"vyre-editable.pth": (HERE + "\n").encode()}
    return write_wheel(wheel_directory, files, f"{TAG}-{platform_tag()}")


def stage_in_place(build):
    package = os.path.join(HERE, "vyre")
    compile_extension(build, os.path.join(package, "_vyre.abi3.so"), [build])


def build_sdist(sdist_directory, config_settings=None):
    base = f"vyre-{version()}"
    name = base + ".tar.gz"
    subprocess.run(["git", "-C", ROOT, "archive", "--format=tar.gz", f"--prefix={base}/", "-o",
                    os.path.join(os.path.abspath(sdist_directory), name), "HEAD"], check=True)
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["stage", "wheel"])
    parser.add_argument("folder")
    parser.add_argument("--build", help="where the library was built")
    parser.add_argument("--level", type=int, choices=range(10), help="how hard to compress a wheel; 0: not")
    options = parser.parse_args()
    os.umask(0o022)
    if options.what == "stage":
        print(stage(options.folder, find_build(options.build), is_copied=False))
    else:
        name = make_wheel(options.folder, options.build, True, options.level)
        print(os.path.join(options.folder, name))


if __name__ == "__main__":
    main()
