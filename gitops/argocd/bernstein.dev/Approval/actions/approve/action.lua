-- Argo CD runs this also where it is disabled.
if obj.spec.asks.notBy ~= nil then
  error("the author may not decide, and this account is anybody's: decide with kubectl or bernstein")
end
-- Whoever asks signs with his own name, which is here the account of Argo CD's server.
local by = actionParams["by"] or "system:serviceaccount:argocd:argocd-server"
if obj.spec.asks.gate ~= nil and actionParams["reason"] == nil then
  error("whoever lets work go on without a gate says why: give the parameter 'reason'")
end
obj.spec.decision = "Approve"
obj.spec.decidedBy = by
obj.spec.reason = actionParams["reason"] or "approved in Argo CD"
return obj
