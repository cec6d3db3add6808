"""Real servers on this machine, for tests, benchmarks and the live demo.

A module per server. What several of them share is in `ports` and `processes`; their jars are named
in `jars`. They listen on free ports of the loopback interface, and only the processes that were
started are stopped. What the machine lacks for one is `Missing`.
"""
