"""The progress of jobs as metrics for Prometheus."""
