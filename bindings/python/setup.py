# cffi has no place in pyproject.toml.
from setuptools import setup

setup(cffi_modules=["build_urlweir.py:ffi"])
