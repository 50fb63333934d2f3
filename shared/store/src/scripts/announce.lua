--[[ announce: a running service says which formats it reads, and learns what the others read.

KEYS  formats
ARGV  now_ms document
Returns {formats, seen, stopped}
      stopped: the names of those that said that they stop. seen: when each of them announced itself last, ms. formats: what every running service has announced, this one included. Those that do not run any more
      are taken off the list.
]]
local args = arguments({
  instance = 'text',
  -- The newest versions that it reads, JSON; nil: it stops, and has seen all that it will ever see.
  formats = 'text',
  -- An instance that runs was seen within this time.
  seen_within_ms = 'integer',
})
local now = time_ms(ARGV[1])
local STOPPED = 'stopped'
redis.call('HSET', keys.formats, args.instance, string.format('%d %s', now, args.formats or STOPPED))
local entries, formats, seen_ms, stopped = redis.call('HGETALL', keys.formats), {}, {}, {}
for i = 1, #entries, 2 do
  local seen, announced = entries[i + 1]:match('^(%d+) (.*)$')
  if not seen or tonumber(seen) + args.seen_within_ms < now then
    redis.call('HDEL', keys.formats, entries[i])
  else
    local list = announced == STOPPED and stopped or formats
    list[#list + 1] = announced == STOPPED and entries[i] or announced
    seen_ms[entries[i]] = tonumber(seen)
  end
end
return encode({ formats = formats, seen = seen_ms, stopped = stopped })
