--[[ roll_up: close the minutes of a day into the traffic history.

KEYS  1 line (hash)  2 traffic (hash: "minute.r.region" or "minute.a" -> count)  3 history of
      the day (hash, the same fields)
ARGV  1 the leader's epoch  2 first and 3 last minute to close (minutes since 1970)  4 how long the
      history is kept, s
Returns how many counts moved.
Keeps a minute is closed once: what has moved is gone from the traffic; a stale leader is refused.
]]
assert(#KEYS == 3 and #ARGV == 4, 'roll_up: wrong number of keys or arguments')
local line = read_line(KEYS[1])
if not line then return no_room() end
local refusal = fenced(KEYS[1], line, tonumber(ARGV[1]))
if refusal then return refusal end
local first, last = tonumber(ARGV[2]), tonumber(ARGV[3])
local counts = redis.call('HGETALL', KEYS[2])
local moved = 0
for i = 1, #counts, 2 do
  local minute = tonumber(string.match(counts[i], '^(%d+)%.'))
  if minute >= first and minute <= last then
    redis.call('HINCRBY', KEYS[3], counts[i], counts[i + 1])
    redis.call('HDEL', KEYS[2], counts[i])
    moved = moved + 1
  end
end
if moved > 0 then redis.call('EXPIRE', KEYS[3], ARGV[4]) end
return moved
