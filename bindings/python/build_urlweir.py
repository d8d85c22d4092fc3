"""Compiles urlweir._urlweir against the installed liburlweir: cffi, API mode.

The declarations are those of the installed urlweir.h itself, so there is no
second list of them that could differ, and the C compiler checks each.
"""
import re
import subprocess

import cffi


def pkg_config(*args):
    try:
        return subprocess.run(["pkg-config", *args, "urlweir"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split()
    except (OSError, subprocess.CalledProcessError) as e:
        raise SystemExit("urlweir: liburlweir is not installed where pkg-config looks for it "
                         "(make install, liburlweir-dev, PKG_CONFIG_PATH)") from e


def declarations(header):
    """What cffi reads of a header: no preprocessor but numbers."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", text, flags=re.S)
    return re.sub(r"^#(?!define \w+ \d+ *$).*\n", "", text, flags=re.M)


def path_of(args, flag):
    return [a[len(flag):] for a in args if a.startswith(flag)]


flags = pkg_config("--cflags", "--libs")
folders = path_of(flags, "-L")
# Flags of folders that the compiler knows anyway are left out.
include = path_of(pkg_config("--cflags", "--keep-system-cflags"), "-I")[0]

ffi = cffi.FFI()
with open(include + "/urlweir.h", encoding="utf-8") as f:
    ffi.cdef(declarations(f.read()))
ffi.cdef("""
    extern "Python" int urlweir_py_link(void *ctx, const struct urlweir_link *link);
    extern "Python" int urlweir_py_entry(void *ctx, const struct urlweir_entry *entry);
""")
# A folder that is not the system's is not searched by the loader either.
ffi.set_source("urlweir._urlweir", "#include <urlweir.h>", libraries=["urlweir"],
               include_dirs=path_of(flags, "-I"), library_dirs=folders,
               runtime_library_dirs=folders)
