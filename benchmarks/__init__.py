"""Measurements, each run by a make target, each writing a page of docs/."""
