--[[ draw: the leader gives those who waited for a draw their places, and publishes how.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)
      5 draws (hash: draw id -> what is published of it, JSON)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 the leader's epoch  4 draw id  5 first and
      6 last number of the pool that was drawn (0, 0 = nobody had come)  7 all draws since the
      reset, as JSON ("" = none was added: the draw was cancelled, or nobody had come)
      8 what is published, JSON ("" = nothing: those who waited are let go, and the draw is yet to
      come)
Returns 1 = drawn, 0 = it was drawn before, or the pool is another one now.
Keeps (6) a place that was drawn is never drawn again; a stale leader changes nothing.
]]
assert(#KEYS == 5 and #ARGV == 8, 'draw: wrong number of keys or arguments')
local keys = { line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4] }
local now = time_ms(ARGV[1])
local line = read_line(keys.line)
if not line then return no_room() end
local refusal = fenced(keys.line, line, tonumber(ARGV[3]))
if refusal then return refusal end
if line.pool_first ~= tonumber(ARGV[5]) or line.pool_last ~= tonumber(ARGV[6]) then return 0 end
if ARGV[8] ~= '' and redis.call('HSETNX', KEYS[5], ARGV[4], ARGV[8]) == 0 then
  -- What is published stands; a pool that came together after it stands in order of arrival.
  if line.pool_first == 0 then return 0 end
  redis.call('HSET', keys.line, 'pool_first', 0, 'pool_last', 0)
  publish(keys, ARGV[2], now)
  return 1
end
redis.call('HSET', keys.line, 'pool_first', 0, 'pool_last', 0)
if ARGV[7] ~= '' then
  redis.call('HSET', keys.line, 'draws', ARGV[7])
  redis.call('HINCRBY', keys.line, 'draw_count', 1)
end
publish(keys, ARGV[2], now)
return 1
