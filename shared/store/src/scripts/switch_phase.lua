--[[ switch_phase: the leader turns the page: another phase of the room's config is under way.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 the leader's epoch  4 the version of the config
      that the phases are of  5… the phases, as `write_phases` takes them
Returns 1 = turned, 0 = the config has changed meanwhile.
Keeps a stale leader changes nothing; who waits for a draw is settled before the page is turned.
]]
assert(#KEYS == 4 and #ARGV == 4 + PHASES, 'switch_phase: wrong number of keys or arguments')
local keys = { line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4] }
local now = time_ms(ARGV[1])
local line = read_line(keys.line)
if not line then return no_room() end
local refusal = fenced(keys.line, line, tonumber(ARGV[3]))
if refusal then return refusal end
if redis.call('HGET', keys.settings, 'version') ~= ARGV[4] then return 0 end
keep_pool(keys.line, line, read_settings(keys.settings, now))
write_phases(keys, line, now, 5)
publish(keys, ARGV[2], now)
return 1
