-- Argo CD acts with one account for all people. Where the author may not decide, that account cannot
-- show that another person did: decide with kubectl or bernstein there.
local pending = (obj.status or {}).state == "Pending" and obj.spec.decision == nil
local disabled = not pending or obj.spec.asks.notBy ~= nil
local actions = {
  approve = {
    disabled = disabled,
    iconClass = "fa fa-fw fa-check",
    displayName = "Approve",
    params = { { name = "reason" }, { name = "by" } },
  },
  reject = {
    disabled = disabled,
    iconClass = "fa fa-fw fa-times",
    displayName = "Reject for good",
    params = { { name = "reason" }, { name = "by" } },
  },
}
if obj.spec.subject.kind == "Task" then
  actions["send-back"] = {
    disabled = disabled,
    iconClass = "fa fa-fw fa-undo",
    displayName = "Send back for another attempt",
    params = { { name = "reason" }, { name = "by" } },
  }
end
return actions
