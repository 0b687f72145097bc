"""Spans of what has ended, sent to a collector by OTLP; nothing of it is loaded without one."""
