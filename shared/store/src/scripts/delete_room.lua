--[[ delete_room: remove a room and all that belongs to it, unless more people are in it than its caller expects.

KEYS  inlet draws networks revoked counts line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic ended testimony calls history…
ARGV  now_ms seen document
Returns {existed is_later is_occupied waiting inside}
      existed: there was one. is_later: what is stored is of a later epoch, and stays. is_occupied: it stays, because of
      those who wait and are inside.
Keeps between the count and the deletion nobody comes.
]]
local args = arguments({
  room = 'text',
  -- The latest reset epoch of what is deleted.
  reset_epoch = 'integer',
  -- How many people may be in it at most; nil: any number.
  people = 'integer',
})
local line = read_line(keys.line)
if line and line.reset_epoch > args.reset_epoch then
  return answer({ existed = false, is_later = true, is_occupied = false, waiting = 0, inside = 0 })
end
local waiting, inside = 0, 0
if line then waiting, inside = people_in(keys, line, now) end
if args.people and waiting + inside > args.people then
  return answer({ existed = true, is_later = false, is_occupied = true, waiting = waiting, inside = inside })
end
drop_places(keys, line, now)
-- What is large is freed beside the calls of others.
redis.call('UNLINK', unpack(KEYS))
push('deletions', string.format('%s %d', args.room, args.reset_epoch))
stamp = nil
return answer({ existed = line ~= nil, is_later = false, is_occupied = false, waiting = waiting, inside = inside })
