"""The jobs that real Flink runs, by the interpreter that PyFlink is installed for."""
