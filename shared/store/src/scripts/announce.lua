--[[ announce: a running service says which formats it reads, and learns what the others read.

KEYS  formats
ARGV  now_ms document
Returns {formats}
      formats: what every running service has announced, this one included. Those that do not run any more
      are taken off the list.
]]
local args = arguments({
  instance = 'text',
  -- The newest versions that it reads, JSON.
  formats = 'text',
  -- An instance that runs was seen within this time.
  seen_within_ms = 'integer',
})
local now = time_ms(ARGV[1])
redis.call('HSET', keys.formats, args.instance, string.format('%d %s', now, args.formats))
local entries, formats = redis.call('HGETALL', keys.formats), {}
for i = 1, #entries, 2 do
  local seen, announced = entries[i + 1]:match('^(%d+) (.*)$')
  if not seen or tonumber(seen) + args.seen_within_ms < now then
    redis.call('HDEL', keys.formats, entries[i])
  else
    formats[#formats + 1] = announced
  end
end
return encode({ formats = formats })
