"""How long a document takes: to be judged in Python and in the browser, to be seen, and to be changed."""
