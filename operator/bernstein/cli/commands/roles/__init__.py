"""Commands about roles: those that are built in, and the AgentRoles of a namespace."""
