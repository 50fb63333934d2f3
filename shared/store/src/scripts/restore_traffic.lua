--[[ restore_traffic: a controller puts back what it has seen counted in minutes of a day, and what Redis has lost.

KEYS  line traffic history
ARGV  now_ms seen document
Returns {restored}
      restored: how many counts were too low.
Keeps nobody is counted twice: a count comes to what was seen, or stays as it is.
]]
local args = arguments({
  -- Each with its field, as in `roll_up`.
  counts = 'table',
  -- How long the history is kept.
  kept_seconds = 'integer',
})
if not read_line(keys.line) then return no_room() end
local names = {}
for i, count in ipairs(args.counts) do names[i] = count[1] end
local closed = redis.call('HMGET', keys.history, unpack(names))
local not_closed = redis.call('HMGET', keys.traffic, unpack(names))
local restored = {}
for i, count in ipairs(args.counts) do
  local has_closed = tonumber(closed[i] or nil) or 0
  local lacks = tonumber(count[2]) - has_closed - (tonumber(not_closed[i] or nil) or 0)
  if lacks > 0 then restored[#restored + 1], restored[#restored + 2] = names[i], has_closed + lacks end
end
if #restored > 0 then
  redis.call('HSET', keys.history, unpack(restored))
  redis.call('EXPIRE', keys.history, args.kept_seconds)
end
return answer({ restored = #restored / 2 })
