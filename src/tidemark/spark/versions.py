"""What older versions of Spark lack, done with what they have.

What differs in Spark's SQL is in `functions`, beside the functions that are written in it.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def new_session(users: SparkSession) -> SparkSession:
    """A session of the same Spark, with settings and temporary views of its own.

    Clients of Spark Connect have no `newSession` before 4.3. It connects to the same server in the
    same way, but as another session.
    """
    if hasattr(users, "newSession"):
        return users.newSession()
    client = users.client
    connection = deepcopy(client._builder)
    connection._params.pop(connection.PARAM_SESSION_ID, None)
    hooks = [lambda _, hook=hook: hook for hook in client._session_hooks]
    return type(users)(connection, userId=client._user_id, hook_factories=hooks)
