# Python imports the frozen copy of the program's code, and this says which files it takes from elsewhere.
import atexit, os, sys, time


def begin(here):
    copy = os.path.realpath(os.path.dirname(here))
    with open(os.path.join(here, "folder"), "rb") as file:
        folder = os.path.realpath(os.fsdecode(file.read()))
    report = os.path.join(here, "imported")
    os.close(os.open(report, os.O_WRONLY | os.O_CREAT, 0o600))
    began = time.time()
    library = os.path.dirname(os.__file__) + os.sep
    temporary = os.path.realpath(os.environ.get("TMPDIR") or "/tmp")
    plain = ("SourceFileLoader", "SourcelessFileLoader", "ExtensionFileLoader")
    reached = []  # places in `folder` from which Python imports
    seen = set()
    doubles = set()  # modules of the copy that Python takes from installed packages
    found = []  # the modules of the copy, once they are asked for

    def is_in(path, place):
        return path == place or path.startswith(place + os.sep)

    def counterpart(path, place, other):
        return other + path[len(place):] if is_in(path, place) else ""

    def in_copy(path):
        found = counterpart(path, folder, copy)
        return found if found and os.path.exists(found) else ""

    def is_library(path):
        return path.startswith(library) or "/site-packages/" in path or "/dist-packages/" in path

    def modules_of_code():
        names = set()
        for place, folders, files in os.walk(copy):
            if place.count(os.sep) - copy.count(os.sep) > 2 or "__init__.py" in files:
                folders[:] = []
                continue
            folders[:] = [each for each in folders if not each.startswith(".")]
            names.update(each[:-3] for each in files if each.endswith(".py"))
            names.update(each for each in folders if os.path.isfile(os.path.join(place, each, "__init__.py")))
        return names

    def is_in_code(name):
        if not found:
            found.append(modules_of_code())
        return name in found[0]

    def note(path, is_double=False):
        if path in seen or (is_library(path) and not is_double):
            return
        seen.add(path)
        file = os.path.realpath(path)
        while not os.path.isfile(file) and file != os.path.dirname(file):
            file = os.path.dirname(file)  # an archive of modules
        if (is_library(file) and not is_double) or is_in(file, os.path.dirname(copy)) or not os.path.isfile(file):
            return
        if is_in(file, temporary) and os.stat(file).st_mtime > began:
            return  # the program wrote it
        import hashlib
        digest = hashlib.sha256()
        with open(file, "rb") as content:
            for piece in iter(lambda: content.read(1 << 20), b""):
                digest.update(piece)
        line = os.fsencode("%s %s" % (digest.hexdigest(), file)).replace(b"\n", b"?") + b"\n"
        out = os.open(report, os.O_WRONLY | os.O_APPEND)
        os.write(out, line)
        os.close(out)

    def look(name, spec):
        if not getattr(spec, "has_location", False) or not isinstance(spec.origin, str):
            return spec
        path, inner = spec.origin, spec.submodule_search_locations
        top = path if inner is None else os.path.dirname(path)
        if is_library(path) and ("." in name or not os.path.islink(top)):
            first = name.split(".")[0]
            is_installed = "/site-packages/" in path or "/dist-packages/" in path
            if "." not in name and is_installed and is_in_code(name):
                doubles.add(name)
            if first in doubles:
                note(path, True)
            return spec
        file = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        mine = in_copy(file)
        if mine and type(spec.loader).__name__ in plain:
            if inner is not None:
                inner = [os.path.dirname(mine), os.path.dirname(file)]
            from importlib.util import spec_from_file_location
            return spec_from_file_location(name, mine, submodule_search_locations=inner)
        original = counterpart(os.path.dirname(file), copy, folder)
        if original and inner is not None and any(is_in(original, place) for place in reached):
            inner.append(original)  # modules that are not in the copy, such as those built in place
        note(path)
        return spec

    class Frozen(object):
        def find_spec(self, name, path=None, target=None):
            quiet(main)
            for finder in sys.meta_path[sys.meta_path.index(self) + 1:]:
                spec = finder.find_spec(name, path, target) if hasattr(finder, "find_spec") else None
                if spec is not None:
                    return quiet(look, name, spec) or spec

    def quiet(call, *values):
        try:
            return call(*values)
        except Exception:
            return None  # the program goes on as it would without

    def main():
        script = getattr(sys.modules.get("__main__"), "__file__", None)
        if script:
            note(os.path.abspath(script))

    def end():
        quiet(main)
        for module in list(sys.modules.values()):
            spec = quiet(getattr, module, "__spec__")
            if getattr(spec, "has_location", False):
                quiet(note, spec.origin)

    def reach(path):
        real = os.path.realpath(path)
        mine = in_copy(real) if path else ""
        if mine:
            reached.append(real)
        return mine

    sys.path[:] = [each for path in sys.path for each in (reach(path), path) if each]
    for finder in sys.meta_path:  # of packages that are installed as links to their sources
        places = getattr(sys.modules.get(getattr(finder, "__module__", None)), "MAPPING", None)
        for name, place in list(places.items()) if isinstance(places, dict) else []:
            places[name] = reach(place) or place
    sys.meta_path.insert(0, Frozen())
    atexit.register(end)


here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if path != here]
try:
    if sys.version_info >= (3, 4):
        begin(here)
except Exception:
    pass  # xlm finds that nothing was reported
this = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # the user's own
except ImportError as error:
    if getattr(error, "name", "sitecustomize") != "sitecustomize":
        raise
finally:
    sys.modules.setdefault("sitecustomize", this)
