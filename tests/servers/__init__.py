"""Real servers on this machine, each started once per test run, when a test asks for its fixture.

A module per server. What several of them share is in `ports` and `processes`; their jars are named in
`tests/jars`. They listen on free ports of the loopback interface, and only the processes that were
started are stopped.
"""
