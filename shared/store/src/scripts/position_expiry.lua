--[[ position_expiry: how long a served position may still be claimed.

KEYS  1 line (hash)  2 settings (hash)  3 rows (zset)  4 door (zset)
ARGV  1 now (ms, 0 = the server's clock)  2 reset epoch  3 position  4 entry time (unix s)
Returns {outcome, seconds left}; outcomes: 1 claimable  2 positions do not expire here
      3 not served yet  4 expired  5 id of before a reset
]]
assert(#KEYS == 4 and #ARGV == 4, 'position_expiry: wrong number of keys or arguments')
local keys = { rows = KEYS[3], door = KEYS[4] }
local line = read_line(KEYS[1])
if not line then return no_room() end
local now = time_ms(ARGV[1])
local settings = read_settings(KEYS[2], now)
local position = tonumber(ARGV[3])
if tonumber(ARGV[2]) ~= line.reset_epoch then return { 5, 0 } end
if not settings.expiry then return { 2, 0 } end
if position > line.serving_counter then return { 3, 0 } end
local late = math.floor(now / 1000)
  - served_since(keys, line, position, tonumber(ARGV[4]))
if late > settings.expiry then return { 4, 0 } end
return { 1, settings.expiry - late }
