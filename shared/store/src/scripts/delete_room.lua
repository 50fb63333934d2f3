--[[ delete_room: remove a room and all that belongs to it.

KEYS  draws line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic watermarks history…
ARGV  now_ms document
Returns {existed}
]]
local args = arguments({ room = 'text' })
local line = read_line(keys.line)
if line then drop_places(keys, line, time_ms(ARGV[1])) end
redis.call('DEL', unpack(KEYS))
redis.call('PUBLISH', CHANNELS.deletions, args.room)
return encode({ existed = line ~= nil })
