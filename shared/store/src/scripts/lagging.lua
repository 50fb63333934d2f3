--[[ lagging: the running admissions that do not apply a change yet.

KEYS  admissions
ARGV  now_ms document
Returns {instances}
      instances: their names. Those that do not run any more are taken off the list.
]]
local args = arguments({
  -- Of the change.
  revision = 'integer',
  -- An instance that runs was seen within this time.
  seen_within_ms = 'integer',
})
local now = time_ms(ARGV[1])
local entries = redis.call('HGETALL', keys.admissions)
local instances = {}
for i = 1, #entries, 2 do
  local seen, known = entries[i + 1]:match('^(%d+) (%d+)$')
  if not seen or tonumber(seen) + args.seen_within_ms < now then
    redis.call('HDEL', keys.admissions, entries[i])
  elseif tonumber(known) < args.revision then
    instances[#instances + 1] = entries[i]
  end
end
return encode({ instances = instances })
