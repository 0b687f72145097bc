-- An AgentRole: Healthy where it can be used, Degraded where it cannot.
local HEALTH = { True = "Healthy", False = "Degraded" }

local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the operator has not looked at it yet" }
end
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Validated" then
    local message = condition.reason
    if condition.message ~= nil and condition.message ~= "" then
      message = message .. ": " .. condition.message
    end
    return { status = HEALTH[condition.status] or "Progressing", message = message }
  end
end
return { status = "Progressing", message = "the operator has not looked at it yet" }
