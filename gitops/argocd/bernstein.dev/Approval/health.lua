-- An Approval: Suspended while a person has yet to decide, Healthy once nothing is asked any more,
-- whatever was decided: what becomes of the work shows on the Task or the Plan. Degraded where
-- nobody has decided in time.
local HEALTH = { Pending = "Suspended", Expired = "Degraded" }

local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  local message = obj.spec.decision and "decided: " .. obj.spec.decision
  return { status = "Progressing", message = message or "the operator has not looked at it yet" }
end

local message = status.state
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Reconciling" or condition.type == "Succeeded" then
    if condition.message ~= nil and condition.message ~= "" then
      message = message .. ": " .. condition.message
    end
  end
end
return { status = HEALTH[status.state] or "Healthy", message = message }
