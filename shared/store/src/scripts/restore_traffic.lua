--[[ restore_traffic: a controller puts back what it has seen counted in minutes of a day, and what Redis has lost.

KEYS  line traffic counts history minutes ledger
ARGV  now_ms seen document
Returns {restored}
      restored: how many counts were too low.
Keeps nobody is counted twice: a count comes to what was seen, or stays as it is.
]]
local args = arguments({
  -- Each with its field, as in `roll_up`.
  counts = 'table',
  -- How long minutes are kept, and how long the ledger.
  minutes_kept_seconds = 'integer', kept_seconds = 'integer',
})
if not read_line(keys.line) then return no_room() end
local minutes, ledger = LEDGER.of(keys.minutes, 1), LEDGER.of(keys.ledger, 5)
local names = {}
for i, count in ipairs(args.counts) do names[i] = count[1] end
local closed = redis.call('HMGET', keys.history, unpack(names))
local in_traffic = redis.call('HMGET', keys.traffic, unpack(names))
local in_counts = redis.call('HMGET', keys.counts, unpack(names))
local arrived, restored = {}, 0

-- Puts a figure of a row back.
local function restore_figure(minute, figure, region, seen, open)
  local known = minutes.get(minute, figure, region)
  local is_level = LEDGER.is_level(figure)
  local has = is_level and math.max(known, open) or known + open
  if has >= seen then return end
  local lacks = is_level and seen or seen - has
  minutes.add(minute, figure, region, lacks)
  ledger.add(minute, figure, region, lacks)
  restored = restored + 1
end

-- Puts back how many came or entered.
local function restore_arrived(minute, figure, region, seen, has_closed, open, name)
  local lacks = seen - has_closed - open
  if lacks <= 0 then return end
  arrived[#arrived + 1], arrived[#arrived + 2] = name, has_closed + lacks
  ledger.add(minute, figure, region, lacks)
  restored = restored + 1
end

for i, count in ipairs(args.counts) do
  local minute, figure, region = LEDGER.read_field(names[i])
  local seen = tonumber(count[2])
  if figure == 'r0' or figure == 'a0' then
    restore_arrived(minute, figure, region, seen, tonumber(closed[i] or nil) or 0, tonumber(in_traffic[i] or nil) or 0,
      names[i])
  else
    restore_figure(minute, figure, region, seen, tonumber(in_counts[i] or nil) or 0)
  end
end
if #arrived > 0 then
  redis.call('HSET', keys.history, unpack(arrived))
  redis.call('EXPIRE', keys.history, args.minutes_kept_seconds)
end
minutes.write(args.minutes_kept_seconds)
ledger.write(args.kept_seconds)
return answer({ restored = restored })
