"""How the trained metric `meantime` is made; see `python -m training.metric --help`."""
