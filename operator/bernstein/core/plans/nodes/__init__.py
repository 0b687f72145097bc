"""The run of a workflow: from what its Tasks have come to, to the Tasks that come next."""
