-- It is signed by nobody: the log of Argo CD has the name. It cannot be taken back.
obj.spec.cancel = { reason = actionParams["reason"] or "cancelled in Argo CD" }
return obj
