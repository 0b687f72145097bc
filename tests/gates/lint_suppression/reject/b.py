# ruff: noqa
import os
