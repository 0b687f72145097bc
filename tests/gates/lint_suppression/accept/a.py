# ruff: noqa
import os
import re  # noqa: F401
