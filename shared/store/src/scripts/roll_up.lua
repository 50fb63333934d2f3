--[[ roll_up: close the minutes of a day into the traffic history.

KEYS  line traffic history
ARGV  now_ms seen document
Returns {moved open}
      moved: how many counts; open: how many are left. traffic and history have the same fields: "minute.r.region" and
      "minute.a".
Keeps a minute is closed once: what has moved is gone from the traffic; a stale leader is refused.
]]
local args = arguments({
  leader_epoch = 'integer',
  -- The minutes to close, since 1970.
  first = 'integer', last = 'integer',
  -- How long the history is kept.
  kept_seconds = 'integer',
})
local line = read_line(keys.line)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
local counts = redis.call('HGETALL', keys.traffic)
local moved = 0
for i = 1, #counts, 2 do
  local minute = tonumber(string.match(counts[i], '^(%d+)%.'))
  if minute >= args.first and minute <= args.last then
    redis.call('HINCRBY', keys.history, counts[i], counts[i + 1])
    redis.call('HDEL', keys.traffic, counts[i])
    moved = moved + 1
  end
end
if moved > 0 then redis.call('EXPIRE', keys.history, args.kept_seconds) end
return answer({ moved = moved, open = #counts / 2 - moved })
