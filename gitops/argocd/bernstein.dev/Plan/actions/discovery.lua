local status = obj.status or {}
local ended = status.endedAt ~= nil
local over = ended or obj.spec.cancel ~= nil
local suspended = obj.spec.suspend == true
local stands = status.phase == "Failed" or status.phase == "Stalled"

return {
  suspend = { disabled = over or suspended, iconClass = "fa fa-fw fa-pause", displayName = "Suspend" },
  resume = { disabled = over or not suspended, iconClass = "fa fa-fw fa-play", displayName = "Resume" },
  cancel = {
    disabled = over,
    iconClass = "fa fa-fw fa-stop",
    displayName = "Cancel for good",
    params = { { name = "reason" } },
  },
  retry = {
    disabled = not stands or suspended or obj.spec.cancel ~= nil,
    iconClass = "fa fa-fw fa-redo",
    displayName = "Retry what has failed",
    params = { { name = "reason" }, { name = "by" } },
  },
}
