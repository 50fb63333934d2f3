--[[ ended_sessions: how many sessions were completed and abandoned since the reset.

KEYS  line
ARGV  now_ms seen document
Returns {completed, abandoned}
]]
local args = arguments({ room = 'text' })
if not read_line(keys.line) then return no_room() end
local counts = redis.call('HMGET', keys.line, 'completed', 'abandoned')
return answer({ completed = tonumber(counts[1]) or 0, abandoned = tonumber(counts[2]) or 0 })
