-- Whoever asks signs with his own name, which is here the account of Argo CD's server.
local by = actionParams["by"] or "system:serviceaccount:argocd:argocd-server"
local reason = actionParams["reason"] or "unblocked in Argo CD"
local os = require("os")

-- Requests that have their answer may go; a list has room for 20.
local answered = {}
for _, answer in ipairs((obj.status or {}).requests or {}) do
  answered[answer.id] = true
end
local requests = {}
for _, request in ipairs(obj.spec.requests or {}) do
  if not answered[request.id] then
    table.insert(requests, request)
  end
end
table.insert(requests, { id = "argocd-" .. os.time(), verb = "Unblock", by = by, reason = reason })
obj.spec.requests = requests
return obj
