--[[ leave: end a batch of sessions and free their seats, at once or when their tokens end.

KEYS  line sessions records ended
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
  -- Of each session: number (as text), how it ended, and `seat`: until when its seat counts as taken, at_once,
  -- with_token, or with_aws_style_token (at once, if its token is none).
  sessions = 'table',
})
local line = read_line(keys.line)
if not line then return no_room() end

-- The status of a record.
local STATUS = { completed = 1, abandoned = -1, revoked = -2 }

-- A number without a live record has no session, but it counts among the seats until its time.
local function end_seat(number, record, seat)
  local outlasts = seat == 'with_token' or seat == 'with_aws_style_token' and record.kind == 'a'
  if outlasts and session_end(record.exp) >= now then
    redis.call('ZADD', keys.sessions, session_end(record.exp), number)
  else
    redis.call('ZREM', keys.sessions, number)
  end
end

local function leave(number, ended_as, seat)
  local record = unpack_record(redis.call('HGET', keys.records, number))
  if not record or record.status ~= 0 then return nil end
  end_seat(number, record, seat)
  redis.call('ZADD', keys.ended, record.exp, number)
  redis.call('HINCRBY', keys.line, ended_as, 1)
  if record.kind == 'v' then
    -- Its bit in `entered` without a record means that the session has ended.
    redis.call('HDEL', keys.records, number)
  else
    record.status = STATUS[ended_as]
    redis.call('HSET', keys.records, number, pack_record(record))
  end
  return record.exp
end

local known = args.reset_epoch == line.reset_epoch
local ended, expires_at, numbers, until_s = {}, {}, {}, {}
for i, session in ipairs(args.sessions) do
  local exp = known and leave(session.number, session.ended_as, session.seat)
  ended[i], expires_at[i] = exp and true or false, exp or 0
  if exp then numbers[#numbers + 1], until_s[#until_s + 1] = tonumber(session.number), exp end
end
if #numbers > 0 then
  push('endings',
    encode({ room = args.room, reset_epoch = line.reset_epoch, numbers = numbers,
      expires_at = until_s }))
end
return answer({ ended = ended, expires_at = expires_at })
