--[[ rebuild: the leader puts seats back that services have seen taken, and ends sessions that they have seen ended.

KEYS  line sessions records tokens entered ended testimony revoked
ARGV  now_ms seen document
Returns {done}
      done: false if another round has begun since, or the room was reset.
Keeps (3) a session that is there stays as it is, unless it was seen in a later state, and what was noted of it, there or
      by whoever has seen it, stays noted; what has ended stays ended;
      whoever is on record has its seat and is on the list of tokens; (2) whoever has ended of late frees no seat that
      may be somebody else's; a seat that is told late is one of those that were held.
]]
local args = arguments({
  -- Empty: of services that tell late; the room is open again.
  round = 'text',
  -- That of what is told: of another line nothing holds for this one.
  reset_epoch = 'integer',
  -- Of each ended session, or revoked place: number, position (null: it is not known), when its last token expires, unix s,
  -- and whether it is such a place.
  ended = 'table',
  -- Of each seat: number, position, record.
  seats = 'table',
})
local line = read_line(keys.line)
if not line then return no_room() end
if line.reset_epoch ~= args.reset_epoch then return answer({ done = false }) end
if args.round ~= '' and redis.call('HGET', keys.testimony, 'round') ~= args.round then return answer({ done = false }) end

-- When the room was opened, a session that had ended stood in for one that nobody has told of: its seat may be taken.
local function owe_its_seat()
  if line.unconfirmed_until < now then return end
  redis.call('HINCRBY', keys.line, 'owed', 1)
  redis.call('HINCRBY', keys.line, 'unconfirmed', 1)
end

-- So many seats were held for whoever had told nothing yet: theirs are told late.
local function hand_over_seats(count)
  if count == 0 then return end
  redis.call('HINCRBY', keys.line, 'came_late', count)
  if line.unconfirmed_until < now then return end
  local unconfirmed = tonumber(redis.call('HGET', keys.line, 'unconfirmed')) or 0
  redis.call('HSET', keys.line, 'unconfirmed', math.max(unconfirmed - count, 0))
end

-- Of this token somebody may have been told who has gone.
local function note_token(record)
  if not record or record.kind ~= 'a' or record.exp <= line.tokens_until then return end
  line.tokens_until = record.exp
  redis.call('HSET', keys.line, 'tokens_until', record.exp)
end

local function waits_for_draw(number)
  return line.pool_first > 0 and number >= line.pool_first
    and number <= (line.pool_last > 0 and line.pool_last or line.queue_counter)
end

local function leave_pool(number)
  local gone = gone_from_pools(keys)
  if get_bit(gone, number) then return end
  set_bit(gone, number, 1)
  redis.call('HINCRBY', keys.line, 'left_pools', 1)
end

for _, each in ipairs(args.ended) do
  local number, position, expires_at = tonumber(each[1]), tonumber(each[2]), tonumber(each[3])
  redis.call('ZADD', keys.ended, 'GT', expires_at, number)
  if each[4] then REVOKED.list(keys, line, number, now) end
  local record = unpack_record(redis.call('HGET', keys.records, number))
  -- Of a session that is known to have ended the seat stays as it is: it may last as long as its token.
  if record and record.status == 0 then
    if args.round == '' and is_live(keys, line, number, now) then owe_its_seat() end
    redis.call('ZREM', keys.sessions, number)
  end
  if record and record.kind == 'v' then
    redis.call('HDEL', keys.records, number)
  elseif record and record.status == 0 then
    record.status = -1
    redis.call('HSET', keys.records, number, pack_record(record))
  end
  if position then set_bit(keys.entered, position, 1) end
  -- A place that waits for its draw was revoked.
  if not position and not record and waits_for_draw(number) then leave_pool(number) end
end
local came_late = 0
for _, each in ipairs(args.seats) do
  local number, position, seen = tonumber(each[1]), tonumber(each[2]), unpack_record(each[3])
  local known = unpack_record(redis.call('HGET', keys.records, number))
  local is_over = redis.call('ZSCORE', keys.ended, number) or known and known.status ~= 0
  local is_renewed = known and seen and known.exp < seen.exp
  local record = known and not is_renewed and known or seen
  local is_noted = known and seen and NOTES.take_missing(record, is_renewed and known or seen)
  local is_there = record == known and redis.call('ZSCORE', keys.sessions, number)
  -- Nor is it rebuilt later from a ticket that was renewed where nobody knew of its end.
  if is_over and seen then redis.call('ZADD', keys.ended, 'GT', seen.exp, number) end
  if record and not is_over and session_end(record.exp) >= now and not is_there then
    if args.round == '' and not is_live(keys, line, number, now) then came_late = came_late + 1 end
    seat(keys, number, position, record)
  else
    if position then set_bit(keys.entered, position, 1) end
    -- Of one that is over the record that was seen would say that it lives.
    if is_noted and record == known then redis.call('HSET', keys.records, number, pack_record(record)) end
  end
  note_token(record)
  if known and known.kind == 'a' then redis.call('ZADD', keys.tokens, record.exp, number) end
end
hand_over_seats(came_late)
return answer({ done = true })
