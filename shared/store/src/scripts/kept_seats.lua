--[[ kept_seats: how many seats are taken by sessions that have ended while gateways may still take their tokens: a page
of those that have ended.

KEYS  line sessions ended
ARGV  now_ms seen document
Returns {seats, next}
      next: where the next page begins; nil: this was the last one.
Keeps no more than a page is looked at.
]]
local args = arguments({
  -- Where the page begins, among those whose tokens have not expired.
  from = 'integer',
  -- Only those that stay taken for so long, ms.
  for_ms = 'integer',
})
local PAGE = 500
local line = read_line(keys.line)
if not line then return no_room() end
local expired = redis.call('ZCOUNT', keys.ended, '-inf', string.format('(%d', math.floor(now / 1000)))
local first = expired + args.from
local numbers = redis.call('ZRANGE', keys.ended, first, first + PAGE - 1)
local seats, from = 0, math.max(sessions_from(line, now), now + args.for_ms)
for _, ends in ipairs(#numbers > 0 and redis.call('ZMSCORE', keys.sessions, unpack(numbers)) or {}) do
  if (tonumber(ends or nil) or 0) >= from then seats = seats + 1 end
end
return answer({ seats = seats, next = #numbers == PAGE and args.from + PAGE or nil })
