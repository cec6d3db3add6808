"""What is imported as `pyflink`: of PyFlink's API the part with which functions are written."""
