"""Functions written for PyFlink, without PyFlink.

Importing this package makes `pyflink` importable: what a module with functions needs of it is in
`api`. Tidemark imports it before it loads a function by name, and workers before they unpickle one.
In your own program, write `import tidemark.pyflink` above `from pyflink.table.udf import udf`.
"""

from __future__ import annotations

from tidemark.pyflink.importing import enable

enable()
