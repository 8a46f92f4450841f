"""What omkl uses of numba beyond its documented interface, and the versions with which that was tried.

A new version of numba may change any of it. Where omkl then fails, `fault` says so in one sentence, in place
of an AttributeError somewhere in the engine. The names are used in omkl/engine: jit.py (how a version of a
function is chosen and loaded), late_code.py (what is made of it), numba_cache.py (files of compiled code),
by_address.py (pointers to functions), choices.py, records.py and lanes.py (types of our own).
"""

import importlib
import sys

OLDEST, NEWEST = (0, 59), (0, 68)  # tried: the first by the CI session with the oldest dependencies
USED = {
    "numba.core.caching": (
        "CompileResultCacheImpl._locator_classes",
        *(f"IndexDataCacheFile.{name}" for name in ("save", "load", "_data_name", "_data_path", "_dump")),
        "IndexDataCacheFile._open_for_write",
        "FunctionCache._load_overload",
        "FunctionCache._guard_against_spurious_io_errors",
        "FunctionCache.load_overload",
        "FunctionCache.save_overload",
        "FunctionCache._index_key",
    ),
    "numba.core.consts": ("ConstantInference",),
    "numba.core.ir": ("Arg", "Assign", "Block.find_insts", "Const", "Expr", "Var"),
    "numba.core.rewrites": ("Rewrite", "register_rewrite"),
    "numba.core.config": ("CACHE_DIR", "DISABLE_JIT"),
    "numba.core.runtime": ("rtsys.initialize",),
    "numba.core.dispatcher": tuple(
        f"Dispatcher.{name}" for name in ("compile", "get_call_template", "get_overload")
    ),
    "numba.core.types": (
        *("BooleanLiteral", "IntegerLiteral", "StringLiteral", "unliteral"),
        *("BoundFunction.get_impl_key", "Dispatcher.get_call_type", "Dispatcher.get_impl_key"),
    ),
    "numba.core.typeconv": ("Conversion",),
    "numba.core.typing.templates": ("AbstractTemplate", "AttributeTemplate"),
    "numba.core.errors": ("NumbaError",),
    "numba.core.options": ("DefaultOptions.nopython",),
    "numba.core.codegen": (
        *("JITCPUCodegen._library_class", "JITCPUCodegen.set_env"),
        *(f"JITCodeLibrary.{name}" for name in ("_optimize_final_module", "_finalize_final_module")),
        *(f"JITCodeLibrary.{name}" for name in ("_ensure_finalized", "get_function")),
        *(f"JITCodeLibrary.serialize_using_{code}" for code in ("bitcode", "object_code")),
        "JITCodeLibrary.get_pointer_to_function",
    ),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.environment": ("lookup_environment",),
    "numba.core.cgutils": (
        *("alloca_once_value", "do_boundscheck", "get_item_pointer2", "get_null_value"),
        *("get_or_insert_function", "if_unlikely", "is_not_null", "pack_array", "unpack_tuple", "voidptr_t"),
    ),
    "numba.extending": (
        *(
            "NativeValue",
            "infer_getattr",
            "intrinsic",
            "lower_builtin",
            "lower_cast",
            "lower_getattr_generic",
        ),
        *("models", "register_model", "type_callable", "typeof_impl", "unbox"),
    ),
}
ONE_OF = ("UserProvidedCacheLocator", "_UserProvidedCacheLocator")  # of numba.core.caching, new and old


def lacking() -> list[str]:
    """Return what the installed numba does not have of it."""
    missing = []
    for module, names in USED.items():
        missing += [f"{module}.{name}" for name in names if not _has(module, name)]
    if not any(_has("numba.core.caching", name) for name in ONE_OF):
        missing.append(f"numba.core.caching.{ONE_OF[0]}")
    return missing


def fault() -> str:
    """Return why the installed numba may be what an unexpected error comes from, "" where it is not."""
    numba = sys.modules.get("numba")
    text = str(getattr(numba, "__version__", ""))
    parts = text.split(".")
    if len(parts) < 2 or not (parts[0].isdecimal() and parts[1].isdecimal()):
        return ""
    version = int(parts[0]), int(parts[1])
    missing = lacking()
    if OLDEST <= version <= NEWEST and not missing:
        return ""
    if missing:
        lacks = f"lacks {', '.join(missing)}, which omkl uses"
    else:
        lacks = "is too old for omkl" if version < OLDEST else "is newer than the tested versions"
    oldest, newest = (f"{major}.{minor}" for major, minor in (OLDEST, NEWEST))
    cure = f"pip install 'numba>={oldest},<{NEWEST[0]}.{NEWEST[1] + 1}'"
    return f"numba {text} {lacks} (tested: {oldest} to {newest}); {cure} installs one that works"


def _has(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return True
