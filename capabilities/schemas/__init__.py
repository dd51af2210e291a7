"""JSON Schemas people declare: hostile until judged, then compiled, explained and published."""
