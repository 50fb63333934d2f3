--[[ put_room: create a room or change its settings. The line stays as it is.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 settings as JSON as the caller read them
      ("" = whatever they are)  4 the new settings as JSON  5 total  6 rate  7 session s
      8 validity s  9 expiry s ("" = none for 5, 6, 9)  10 auto  11 queue_all  12 suspended (0, 1)
Returns 2 = created, 1 = changed, 0 = someone else changed it since the caller read it.
]]
assert(#KEYS == 4 and #ARGV == 12, 'put_room: wrong number of keys or arguments')
local keys = { line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4] }
local now = time_ms(ARGV[1])
local exists = redis.call('EXISTS', keys.line) == 1
local current = redis.call('HGET', keys.settings, 'json')
if ARGV[3] ~= '' and current ~= ARGV[3] then return 0 end
write_settings(keys.settings, 4)
if not exists then
  -- The epoch is a time, so that ids of a deleted room of this name stay invalid.
  redis.call('HSET', keys.line, 'reset_epoch', now, 'generation', 1)
end
publish(keys, ARGV[2], now)
return exists and 1 or 2
