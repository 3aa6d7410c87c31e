"""The metrics, one module each. Ask `meantime.registry` for them by name."""
