--[[ roll_up: close the minutes of a day into the traffic history.

KEYS  line traffic counts history minutes ledger
ARGV  now_ms seen document
Returns {moved open oldest more}
      moved: how many counts; open: how many are left; oldest: the first minute of those, nil: there is none; more: of the
      minutes to close some are.
      traffic and history have the same fields: "minute.r.region" and "minute.a"; counts: see lib/counts. minutes has
      rows of the other figures, ledger rows of all figures of five minutes: see lib/ledger.
Keeps a minute is closed once: what has moved is gone from the traffic and the counts; a stale leader is refused.
]]
local args = arguments({
  leader_epoch = 'integer',
  -- The minutes to close, since 1970.
  first = 'integer', last = 'integer',
  -- How long minutes are kept, and how long the ledger.
  minutes_kept_seconds = 'integer', kept_seconds = 'integer',
})
local line = read_line(keys.line)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
-- So many counts are moved in one call.
local MOST = 800
local minutes, ledger = LEDGER.of(keys.minutes, 1), LEDGER.of(keys.ledger, 5)
local oldest

-- If one holds what no service has written, it is found before anything has moved.
for _, key in ipairs({ keys.history, keys.minutes, keys.ledger }) do redis.call('HGET', key, '') end

-- Moves what is to be closed of one hash; returns how many counts, and how many there were.
local function close(key, most, each)
  local counts, moved = redis.call('HGETALL', key), {}
  for i = 1, #counts, 2 do
    local minute, figure, region = LEDGER.read_field(counts[i])
    local is_due = minute and minute >= args.first and minute <= args.last
    if is_due and #moved < most then
      each(minute, figure, region, tonumber(counts[i + 1]), counts[i])
      ledger.add(minute, figure, region, tonumber(counts[i + 1]))
      moved[#moved + 1] = counts[i]
    elseif minute then
      oldest = math.min(oldest or minute, minute)
    end
  end
  if #moved > 0 then redis.call('HDEL', key, unpack(moved)) end
  return #moved, #counts / 2
end

local from_traffic, in_traffic = close(keys.traffic, MOST, function(_, _, _, count, field)
  redis.call('HINCRBY', keys.history, field, count)
end)
if from_traffic > 0 then redis.call('EXPIRE', keys.history, args.minutes_kept_seconds) end
local from_counts, in_counts = close(keys.counts, MOST - from_traffic, minutes.add)
minutes.write(args.minutes_kept_seconds)
ledger.write(args.kept_seconds)
local moved = from_traffic + from_counts
return answer({ moved = moved, open = in_traffic + in_counts - moved, oldest = oldest, more = moved == MOST })
