-- Argo CD runs this also where it is disabled.
if obj.spec.asks.notBy ~= nil then
  error("the author may not decide, and this account is anybody's: decide with kubectl or bernstein")
end
-- Whoever asks signs with his own name, which is here the account of Argo CD's server.
local by = actionParams["by"] or "system:serviceaccount:argocd:argocd-server"
obj.spec.decision = "Retry"
obj.spec.decidedBy = by
obj.spec.reason = actionParams["reason"] or "sent back in Argo CD"
return obj
