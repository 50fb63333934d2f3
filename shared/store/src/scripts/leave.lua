--[[ leave: end a batch of sessions and free their seats, at once or when their tokens end.

KEYS  line sessions records ended counts
ARGV  now_ms seen document
Returns {ended, expires_at}
      expires_at: when the last token of each that ended now expires, unix s; else 0. ended: of each session true = ended now, false = there is none or it has ended already. Ended
      sessions are pushed to every service, because requests of visitors inside pass without a call
      to Redis.
Keeps an ended session stays ended: its number never enters again; (2) while a gateway that verifies tokens by itself
      lets somebody in who has left, nobody else has that seat.
]]
local args = arguments({
  room = 'text', reset_epoch = 'integer',
  -- Where the caller is.
  region = 'text',
  -- Of each session: number (as text), how it ended, and `seat`: see lib/departures.
  sessions = 'table',
})
local line = read_line(keys.line)
if not line then return no_room() end

local known = args.reset_epoch == line.reset_epoch
local ended, expires_at, numbers, until_s = {}, {}, {}, {}
for i, session in ipairs(args.sessions) do
  local exp = known and DEPARTURES.end_session(keys, session.number, session.ended_as, session.seat)
  ended[i], expires_at[i] = exp and true or false, exp or 0
  if exp then COUNTS.left(keys.counts, now, session.ended_as, 1, args.region) end
  if exp then numbers[#numbers + 1], until_s[#until_s + 1] = tonumber(session.number), exp end
end
if #numbers > 0 then
  push('endings',
    encode({ room = args.room, reset_epoch = line.reset_epoch, numbers = numbers,
      expires_at = until_s }))
end
return answer({ ended = ended, expires_at = expires_at })
