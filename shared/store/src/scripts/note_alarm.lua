--[[ note_alarm: how the alarm stands that stops the periodic inlet of a room.

KEYS  line inlet
ARGV  now_ms seen document
Returns {alarm at_ms}
      How it stands from now on, and since when that is known.
Keeps what is told of an earlier moment changes nothing.
]]
-- at_ms: of which moment it is; nil = now.
local args = arguments({ alarm = 'text', at_ms = 'integer' })
local line = read_line(keys.line)
if not line then return no_room() end
local at = args.at_ms or math.floor(now)
local known = redis.call('HMGET', keys.inlet, 'alarm', 'at_ms')
if known[1] and at < tonumber(known[2]) then return answer({ alarm = known[1], at_ms = tonumber(known[2]) }) end
redis.call('HSET', keys.inlet, 'alarm', args.alarm, 'at_ms', string.format('%d', at))
return answer({ alarm = args.alarm, at_ms = at })
