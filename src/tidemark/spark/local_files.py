"""Files of this machine whose permissions Java sets itself.

Where Hadoop's native library is missing, as in PySpark from PyPI, Hadoop starts a process for each
file that it writes, to set its permissions: sixteen in a micro-batch of a stateful query, a sixth
of its time. Java has been able to do so itself since version 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLASS: Final = "tidemark.LocalFiles"
# Compiled by the compiler that Spark generates code for.
_SOURCE: Final = """
package tidemark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

public class LocalFiles extends LocalFileSystem {
  public LocalFiles() {
    super(new Raw());
  }

  public static class Raw extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission wanted) throws IOException {
      if (wanted.getStickyBit()) {
        super.setPermission(path, wanted);
      } else {
        String mode = wanted.getUserAction().SYMBOL + wanted.getGroupAction().SYMBOL
            + wanted.getOtherAction().SYMBOL;
        Files.setPosixFilePermissions(
            pathToFile(path).toPath(), PosixFilePermissions.fromString(mode));
      }
    }
  }
}
"""


def set_permissions_in_java(spark: SparkSession) -> None:
    """Let all of this Spark's Java use such files for paths without a scheme and with `file:`.

    The settings of Hadoop stay as they are, and with them a file system that a user has chosen.
    """
    java: Any = spark._jvm
    here = java.java.net.URI("file:///")
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    file_system = java.org.apache.hadoop.fs.FileSystem
    if settings.get("fs.file.impl") is not None or _is_native(java):
        return
    own = java.org.apache.hadoop.conf.Configuration(settings)
    own.setClassLoader(_compiled(java))
    own.set("fs.file.impl", _CLASS)
    # Java keeps one file system for each scheme. It asks for its class only when it makes it.
    file_system.get(here, settings).close()
    file_system.get(here, own)


def _is_native(java: Any) -> bool:
    return bool(java.org.apache.hadoop.io.nativeio.NativeIO.isAvailable())


def _compiled(java: Any) -> Any:
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.cook(_SOURCE)
    return compiler.getClassLoader()
