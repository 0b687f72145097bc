"""Gates that change files of the work before it is judged."""
