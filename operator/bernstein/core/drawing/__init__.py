"""Graphs as pictures: what there is to draw, and how it is written for programs that draw.

Nothing here knows what is drawn: stages of a plan, or anything else of which one comes after
another. What terminals show of it the command line makes.
"""
