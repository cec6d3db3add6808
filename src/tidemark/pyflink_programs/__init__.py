"""Programs written for PyFlink: their SQL runs on Tidemark.

The packages here are those of PyFlink's API that programs use besides functions. `import pyflink`
finds them through `tidemark.pyflink`, which knows them by name only.
"""
