local state = (obj.status or {}).state
local over = state == "Closed" or state == "Cancelled" or obj.spec.cancel ~= nil

return {
  cancel = {
    disabled = over,
    iconClass = "fa fa-fw fa-stop",
    displayName = "Cancel for good",
    params = { { name = "reason" } },
  },
  retry = {
    disabled = over or state ~= "Failed",
    iconClass = "fa fa-fw fa-redo",
    displayName = "Retry",
    params = { { name = "reason" }, { name = "by" } },
  },
  unblock = {
    disabled = over or state ~= "Blocked",
    iconClass = "fa fa-fw fa-unlock",
    displayName = "Unblock",
    params = { { name = "reason" }, { name = "by" } },
  },
}
