-- A Project: Healthy where Plans may use it and its credentials do what they must, Progressing while
-- that is not known, Degraded where it is not so.
local HEALTH = { True = "Healthy", False = "Degraded" }

local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the operator has not looked at it yet" }
end
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Ready" then
    local message = condition.reason
    if condition.message ~= nil and condition.message ~= "" then
      message = message .. ": " .. condition.message
    end
    return { status = HEALTH[condition.status] or "Progressing", message = message }
  end
end
return { status = "Progressing", message = "the operator has not looked at it yet" }
