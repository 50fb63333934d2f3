--[[ put_config: create a room, or change its settings and events. The line stays as it is.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 the version that the caller changed (0 = any)
      4 settings and events as JSON  5… the phases, as `write_phases` takes them
Returns {2 = created, 1 = changed, 0 = someone else changed it since the caller read it; version}.
]]
assert(#KEYS == 4 and #ARGV == 4 + PHASES, 'put_config: wrong number of keys or arguments')
local keys = { line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4] }
local now = time_ms(ARGV[1])
local exists = redis.call('EXISTS', keys.line) == 1
local version = tonumber(redis.call('HGET', keys.settings, 'version')) or 0
if ARGV[3] ~= '0' and tonumber(ARGV[3]) ~= version then return { 0, version } end
if not exists then
  -- The epoch is a time, so that ids of a deleted room of this name stay invalid.
  redis.call('HSET', keys.line, 'reset_epoch', now, 'generation', 1)
end
-- Who came before this moment came under what was in force until now.
local line = read_line(keys.line)
if exists then keep_pool(keys.line, line, read_settings(keys.settings, now)) end
redis.call('HSET', keys.settings, 'config', ARGV[4], 'version', version + 1)
write_phases(keys, line, now, 5)
keep_pool(keys.line, line, read_settings(keys.settings, now))
publish(keys, ARGV[2], now)
return { exists and 1 or 2, version + 1 }
