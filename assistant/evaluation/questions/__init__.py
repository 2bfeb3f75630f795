"""Question sets: JSONL files with expected answers, and BEIR folders."""
