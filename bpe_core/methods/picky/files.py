"""The kinds of tables that can hold the steps of PickyBPE.

Only tables that can hold every history are suitable.
"""

TABLES = frozenset[str]()
INSTEAD = "choose a format that stores dropped tokens, such as csv or json"
