--[[ lagging: the admissions that run and do not go by a change yet.

KEYS  1 admissions (hash: instance -> when it was last seen, and its revision)
ARGV  1 now (ms, 0 = the server's clock)  2 revision of the change
      3 how long ago (ms) an instance that runs was seen at most
Returns the names of the instances. Those that do not run are taken off the list.
]]
assert(#KEYS == 1 and #ARGV == 3, 'lagging: wrong number of keys or arguments')
local now, revision = time_ms(ARGV[1]), tonumber(ARGV[2])
local entries = redis.call('HGETALL', KEYS[1])
local behind = {}
for i = 1, #entries, 2 do
  local seen, known = entries[i + 1]:match('^(%d+) (%d+)$')
  if not seen or tonumber(seen) + tonumber(ARGV[3]) < now then
    redis.call('HDEL', KEYS[1], entries[i])
  elseif tonumber(known) < revision then
    behind[#behind + 1] = entries[i]
  end
end
return behind
