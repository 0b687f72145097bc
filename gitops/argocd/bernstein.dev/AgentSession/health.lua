-- An AgentSession: Healthy once its work is verified, Degraded where it has ended otherwise or cannot
-- go on.
local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the operator has not looked at it yet" }
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function is(kind, truth)
  return conditions[kind] ~= nil and conditions[kind].status == truth
end

local function said(kind, health)
  local condition = conditions[kind]
  local message = condition.reason
  if condition.message ~= nil and condition.message ~= "" then
    message = message .. ": " .. condition.message
  end
  return { status = health, message = message }
end

if is("Succeeded", "True") then
  return said("Succeeded", "Healthy")
end
if is("Succeeded", "False") then
  return said("Succeeded", "Degraded")
end
if is("Succeeded", "Unknown") then
  return said("Succeeded", "Progressing")
end
if is("Stalled", "True") then
  return said("Stalled", "Degraded")
end
if is("Reconciling", "True") then
  return said("Reconciling", "Progressing")
end
return { status = "Progressing", message = "about to start" }
