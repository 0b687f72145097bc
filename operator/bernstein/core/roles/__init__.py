"""Roles: what an AgentRole says, whether it can be used, and which roles a namespace has."""
