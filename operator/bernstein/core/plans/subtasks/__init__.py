"""Subtasks: what a document of them says, the Tasks that it asks for, and their rows in a Plan."""
