"""Judging exercises, one submission, a class."""
