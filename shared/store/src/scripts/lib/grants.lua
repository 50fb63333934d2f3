-- Slots for newcomers, divided by region. The rule is that of `Grants::take` in the domain crate.
-- Hash: "r:" .. region -> slots of its own; anywhere -> slots open to all.

-- Takes up to `wanted` slots for a region: of its own first, then from anywhere, then what others
-- have not used, the largest part first. Slots that came free since the grants were made count as anywhere's.
-- Returns how many were taken of each kind.
local function take_slots(key, region, wanted)
  local left = wanted
  local function take(name)
    local granted = tonumber(redis.call('HGET', key, name)) or 0
    local taken = math.min(granted, left)
    if taken > 0 then redis.call('HINCRBY', key, name, -taken) end
    left = left - taken
    return taken
  end
  local own = take('r:' .. region)
  local anywhere = left > 0 and take('anywhere') or 0
  local lent = 0
  if left > 0 then
    local others = {}
    local all = redis.call('HGETALL', key)
    for i = 1, #all, 2 do others[#others + 1] = { name = all[i], slots = tonumber(all[i + 1]) } end
    table.sort(others, function(a, b)
      return a.slots > b.slots or (a.slots == b.slots and a.name < b.name)
    end)
    for _, other in ipairs(others) do
      if left > 0 then lent = lent + take(other.name) end
    end
  end
  return own, anywhere + left, lent
end
