"""The library: papers added, removed, checked."""
