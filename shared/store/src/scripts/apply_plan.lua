--[[ apply_plan: the second half of the leader's tick. Moves the serving counter and tells everyone.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)  5 rows (zset)
      6 presence (hash)  7 grants (hash)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 the leader's epoch  4 serving counter to reach
      5 people promised a seat  6 promised as the survey saw it  7 figures (JSON)
      8 reset epoch and 9 serving counter that the plan was made for (a counter below zero is
      given as 0)  10 by how much the hazard rises  11 how many regions follow, with the slots
      granted to each, and those open to all first: slots, {region, slots, …}; then leases that
      are gone
Returns the serving counter.
Keeps (5) the serving counter never goes back; a stale leader changes nothing.
]]
assert(#KEYS == 7 and #ARGV >= 12, 'apply_plan: wrong number of keys or arguments')
local keys = {
  line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4], rows = KEYS[5],
}
local now = time_ms(ARGV[1])
local line = read_line(keys.line)
if not line then return no_room() end
local refusal = fenced(keys.line, line, tonumber(ARGV[3]))
if refusal then return refusal end

-- A reset or an operator's step back since the survey outdates the plan.
if tonumber(ARGV[8]) == line.reset_epoch then
  local target, seen = tonumber(ARGV[4]), tonumber(ARGV[9])
  if target > seen and line.serving_counter >= seen then
    raise_serving(keys, line, target, now, 't')
    -- Until presence has come together, those who were served are on their way.
    if line.presence_from > now then redis.call('HSET', keys.line, 'promised_at', now) end
  end
  local since = line.promised - tonumber(ARGV[6])
  redis.call('HSET', keys.line, 'promised', math.max(tonumber(ARGV[5]) + since, 0),
    'figures', ARGV[7])
  if ARGV[10] ~= '0' then redis.call('HINCRBY', keys.line, 'cumulative_hazard', ARGV[10]) end
  local regions = tonumber(ARGV[11])
  redis.call('DEL', KEYS[7])
  redis.call('HSET', KEYS[7], 'anywhere', ARGV[12])
  for i = 13, 12 + 2 * regions, 2 do redis.call('HSET', KEYS[7], 'r:' .. ARGV[i], ARGV[i + 1]) end
  for first = 13 + 2 * regions, #ARGV, 1000 do
    redis.call('HDEL', KEYS[6], unpack(ARGV, first, math.min(first + 999, #ARGV)))
  end
end
publish(keys, ARGV[2], now)
return line.serving_counter
