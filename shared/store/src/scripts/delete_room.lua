--[[ delete_room: remove a room and all that belongs to it.

KEYS  draws networks line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic ended testimony calls history…
ARGV  now_ms seen document
Returns {existed is_later}
      existed: there was one. is_later: what is stored is of a later epoch, and stays.
]]
local args = arguments({
  room = 'text',
  -- The latest reset epoch of what is deleted.
  reset_epoch = 'integer',
})
local line = read_line(keys.line)
if line and line.reset_epoch > args.reset_epoch then return answer({ existed = false, is_later = true }) end
if line then drop_places(keys, line, now) end
-- What is large is freed beside the calls of others.
redis.call('UNLINK', unpack(KEYS))
push('deletions', string.format('%s %d', args.room, args.reset_epoch))
stamp = nil
return answer({ existed = line ~= nil, is_later = false })
