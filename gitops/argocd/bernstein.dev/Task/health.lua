-- A Task: Healthy once its work has landed, Degraded where it has ended otherwise or needs a person,
-- Suspended while its Plan is or people have to act.
local AWAITS_PEOPLE = { AwaitingApproval = true, PullRequestOpen = true, PlanSuspended = true }

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
if is("Stalled", "True") then
  return said("Stalled", "Degraded")
end
if is("Reconciling", "True") then
  return said("Reconciling", AWAITS_PEOPLE[conditions.Reconciling.reason] and "Suspended" or "Progressing")
end
return { status = "Progressing", message = "about to begin" }
