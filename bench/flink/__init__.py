"""The jobs that run on real Flink, in the interpreter that has PyFlink."""
