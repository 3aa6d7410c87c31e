"""Frames and roles of two sentences, aligned by how similar their fillers are."""
