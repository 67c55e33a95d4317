"""Gradescope's documented format of results.json (https://gradescope-autograders.readthedocs.io/en/latest/specs/)."""

from __future__ import annotations

from typing import Any

# The fields of results.json and the values that Gradescope's autograder specification allows.
TOP = {
    "score": (int, float), "execution_time": (int, float), "output": str, "output_format": str,
    "test_output_format": str, "test_name_format": str, "visibility": str, "stdout_visibility": str,
    "extra_data": dict, "tests": list, "leaderboard": list,
}  # fmt: skip
TEST = {
    "score": (int, float), "max_score": (int, float), "status": str, "name": str, "name_format": str, "number": str,
    "output": str, "output_format": str, "tags": list, "visibility": str, "extra_data": dict,
}  # fmt: skip
ALLOWED = {
    "visibility": {"hidden", "after_due_date", "after_published", "visible"},
    "stdout_visibility": {"hidden", "after_due_date", "after_published", "visible"},
    "output_format": {"text", "html", "simple_format", "md", "ansi"},
    "name_format": {"text", "html", "simple_format", "md", "ansi"},
    "status": {"passed", "failed"},
}


def conforms(results: dict[str, Any]) -> None:
    """Holds the results against Gradescope's documented format."""
    tests = results["tests"]
    assert isinstance(tests, list)
    for table, fields in [(results, TOP), *((test, TEST) for test in tests)]:
        for key, value in table.items():
            assert isinstance(value, fields[key]), key
            assert value in ALLOWED.get(key, {value} if not isinstance(value, (dict, list)) else [value]), key
            if key in ("score", "max_score"):
                assert value >= 0
    assert "score" in results or all("score" in test for test in tests)
    for test in tests:
        assert test["score"] <= test.get("max_score", test["score"])
