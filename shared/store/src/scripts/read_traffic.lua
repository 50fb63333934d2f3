--[[ read_traffic: what was counted in some minutes of a day, whether they are closed or not.

KEYS  line traffic counts history minutes
ARGV  now_ms seen document
Returns {open counts rows}
      open: the first minute since 1970 that has counts which are not closed; nil: there is none. counts: each with its
      field, as in `roll_up`. rows: closed figures, see lib/ledger.
]]
local args = arguments({
  -- The minutes, since 1970, all of the day of `history`.
  first = 'integer', last = 'integer',
  -- The regions whose closed counts are wanted.
  regions = 'table',
})
if not read_line(keys.line) then return no_room() end
local open, counts = nil, {}
for minute = args.first, args.last do
  local wanted = { string.format('%d.a', minute) }
  for i, region in ipairs(args.regions) do wanted[i + 1] = string.format('%d.r.%s', minute, region) end
  for i, closed in ipairs(redis.call('HMGET', keys.history, unpack(wanted))) do
    if closed then counts[#counts + 1] = { wanted[i], tonumber(closed) } end
  end
end
-- A count of which a part is closed is told in two parts.
for _, key in ipairs({ keys.traffic, keys.counts }) do
  local not_closed = redis.call('HGETALL', key)
  for i = 1, #not_closed, 2 do
    local minute = tonumber(string.match(not_closed[i], '^(%d+)%.'))
    open = math.min(open or minute, minute)
    if minute >= args.first and minute <= args.last then
      counts[#counts + 1] = { not_closed[i], tonumber(not_closed[i + 1]) }
    end
  end
end
local rows, first, last = {}, args.first % 1440, args.last % 1440
for hour = math.floor(first / 60), math.floor(last / 60) do
  for row in string.gmatch(redis.call('HGET', keys.minutes, hour) or '', '[^\n]+') do
    local minute = tonumber(string.match(row, '^%d+'))
    if minute >= first and minute <= last then rows[#rows + 1] = row end
  end
end
return answer({ open = open, counts = counts, rows = rows })
