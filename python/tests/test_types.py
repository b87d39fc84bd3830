"""Every public name has a docstring, and the types in __init__.pyi are those of the package: names, parameters and their defaults. Run by
ctest: test_types.py DEVLOG SOURCE."""

import ast
import inspect
import os
import pydoc
import sys
import types
import unittest

import devlog

FOLDER = os.path.dirname(devlog.__file__)
with open(os.path.join(FOLDER, "__init__.pyi"), encoding="utf-8") as f:
    STUB = ast.parse(f.read())


def members(cls):
    """What users may call or read of a class, its own and its parents' within the package."""
    for k in cls.__mro__:
        if k.__module__.startswith("devlog"):
            for name, what in vars(k).items():
                if not name.startswith("_") and (inspect.isroutine(what) or isinstance(what, (property, classmethod, staticmethod))):
                    yield k, name, what


def parameters(function):
    """[(name, kind, default as text)] of a function of the stub."""
    a = function.args
    found, plain = [], a.posonlyargs + a.args
    defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
    found += [(p.arg, "plain", d) for p, d in zip(plain, defaults)]
    found += [(a.vararg.arg, "rest", None)] if a.vararg else []
    found += [(p.arg, "named", d) for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return [(name, kind, d and ast.unparse(d)) for name, kind, d in found if name != "self"]


def really(function, options=()):
    """The same of the package's; **options is what those functions take."""
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: "plain", inspect.Parameter.VAR_POSITIONAL: "rest", inspect.Parameter.KEYWORD_ONLY: "named"}
    found = []
    for p in inspect.signature(function).parameters.values():
        if p.kind == p.VAR_KEYWORD:
            for more in options:
                found += [(name, "named", d) for name, _, d in really(more) if name != "paths"]
        elif p.name != "self":
            found.append((p.name, kinds[p.kind], None if p.default is p.empty else repr(p.default)))
    return [(name, kind, d.replace('"', "'") if d else d) for name, kind, d in found]


def unquoted(found):
    return [(name, kind, d.replace('"', "'") if d else d) for name, kind, d in found]


class Types(unittest.TestCase):
    def test_help_is_complete(self):
        self.assertTrue(devlog.__doc__)
        for name in devlog.__all__:
            what = getattr(devlog, name)
            if isinstance(what, (int, str)):
                continue
            doc = inspect.getdoc(what) if not inspect.isclass(what) else what.__dict__.get("__doc__")
            self.assertTrue(doc and not doc.startswith(name + "("), f"devlog.{name} has no docstring")
            for owner, member, m in members(what) if inspect.isclass(what) else ():
                self.assertTrue(inspect.getdoc(getattr(owner, member)), f"{owner.__name__}.{member} has no docstring")
            self.assertTrue(pydoc.render_doc(what))

    def test_all_is_all(self):
        public = {n for n, w in vars(devlog).items() if not n.startswith("_") and not isinstance(w, types.ModuleType)}
        self.assertEqual(public - set(devlog.__all__), set())
        self.assertEqual(sorted(devlog.__all__), sorted(set(devlog.__all__)))

    def test_stub_has_the_names(self):
        stub = set()
        for node in STUB.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                stub.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                stub.add(node.target.id)
        self.assertEqual({n for n in stub if not n.startswith("_")}, set(devlog.__all__))
        self.assertTrue(os.path.exists(os.path.join(FOLDER, "py.typed")))

    def test_stub_has_the_parameters(self):
        from devlog import _answers, _log
        options = {"decode": [_log._wishes], "stream": [_log._wishes], "report": [_answers._selection], "causes": [_answers._selection]}
        tried = 0
        for node in STUB.body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                self.assertEqual(unquoted(parameters(node)), really(getattr(devlog, node.name), options.get(node.name, ())), node.name)
                tried += 1
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_"):
                continue
            cls = getattr(devlog, node.name)
            functions = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
            fields = [f.target.id for f in node.body if isinstance(f, ast.AnnAssign)]
            if hasattr(cls, "_fields"):
                self.assertEqual(tuple(fields), cls._fields)
            for name, f in functions.items():
                if [d.id for d in f.decorator_list if isinstance(d, ast.Name)] == ["overload"]: # has no parameters of its own
                    self.assertTrue(callable(getattr(cls, name)))
                elif f.decorator_list: # a property
                    self.assertIsInstance(inspect.getattr_static(cls, name), property)
                else:
                    self.assertEqual(unquoted(parameters(f)), really(inspect.getattr_static(cls, name)), f"{node.name}.{name}")
                tried += 1
            told = set(functions).union(*({f.name for f in s.body if isinstance(f, ast.FunctionDef)} for s in STUB.body
                                          if isinstance(s, ast.ClassDef) and s.name in [b.id for b in node.bases if isinstance(b, ast.Name)]))
            if not hasattr(cls, "_fields"):
                self.assertLessEqual({name for _, name, _ in members(cls)}, told, node.name)
        self.assertGreater(tried, 45)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
