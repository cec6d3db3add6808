"""The programs in `recorded` are no tests themselves."""

collect_ignore_glob = ["recorded/*"]
