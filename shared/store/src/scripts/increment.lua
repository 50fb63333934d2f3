--[[ increment: an operator moves the serving counter, forwards or back.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)  5 rows (zset)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 by how much
Returns the new serving counter.
      An increment that reaches a gap, whose numbers nobody holds, goes on behind it.
Keeps an increment of 0 changes nothing: it restarts no clock and forgets nobody who entered.
]]
assert(#KEYS == 5 and #ARGV == 3, 'increment: wrong number of keys or arguments')
local keys = {
  line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4], rows = KEYS[5],
}
local now = time_ms(ARGV[1])
local line = read_line(keys.line)
if not line then return no_room() end
-- Beyond 2^53 - 1 a number in Lua, or in a client's JSON, is not exact any more.
local MOST = 9007199254740991
local target = line.serving_counter + tonumber(ARGV[3])
if line.gap_last > 0 and line.serving_counter < line.gap_first and target >= line.gap_first then
  target = target + line.gap_last - line.gap_first + 1
end
target = math.max(-MOST, math.min(MOST, target))
if target > line.serving_counter then raise_serving(keys, line, target, now, 'o') end
if target < line.serving_counter then lower_serving(keys, line, target) end
publish(keys, ARGV[2], now)
return line.serving_counter
