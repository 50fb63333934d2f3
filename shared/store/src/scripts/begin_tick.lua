--[[ begin_tick: the first half of the leader's tick. Ends expired sessions and positions, and
reports the room's state. If nobody waits, it lets the room rest, when it is told to.

KEYS  line sessions records tokens settings rate rows entered door asked passed seatless holds unattended there scratch ended counts
ARGV  now_ms seen document
Returns {now_ms queue_counter serving_counter expired_position active admitted_last_minute held promised
      presence_from_ms left_out heard_at_ms admitted aws_joined aws_admitted kept_out over nobody_waits line pool near door
      at_door came_known came_unknown came_after_ms rate_resumes_at_ms spread_left pool_first pool_last pool_id draw_count settings event
      config_version phase_is_over rests due_ms swept}, then three texts for each block of `near`
      over: numbers that have entered, left or expired, or were left out; nobody_waits: then nothing is
      counted; line, pool: counts of chunks, see `count_chunk`; near: the blocks that follow bit by bit: places
      that have checked in, that AWS-style visitors hold, that are over; door: positions of some who keep asking,
      in order, evenly chosen of all `at_door`; rate_resumes_at_ms: 0 = the rate is not used up;
      spread_left: how many more its even spread lets in now, nil = there is no rate;
      rests: the room rests from now on, and its snapshot was pushed; due_ms: when something is due in it by
      itself, 0 = nothing is. swept: no more is left to be forgotten. held: seats held for visitors who were called.
      settings, event: JSON.
Keeps a stale leader changes nothing; a position expires exactly when its time is over.
]]
local args = arguments({
  room = 'text',
  leader_epoch = 'integer',
  -- How long records of AWS-style tokens are kept after they expired.
  tokens_kept_seconds = 'integer',
  -- Chunks to count: of the line, and of the pool that waits for a draw.
  line_chunks = 'table', pool_chunks = 'table',
  -- Nothing has changed for a while.
  settled = 'flag',
})
local now_s = math.floor(now / 1000)
local line, settings = read_room(keys, now)
if not line then return no_room() end
-- A server that has no memory left lets a script write that has removed something, if only what is not there; and what
-- has expired is forgotten here.
redis.call('HDEL', keys.line, '')
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
-- So many things of a kind are forgotten in one call, at most, so many records, which take longer, and so many rows
-- looked at.
local MANY, MANY_RECORDS, MANY_ROWS = 400, 300, 100
-- After a longer pause of all leaders, missed check-ins are excused, ms.
local PAUSE_MS = 15000
-- A place that had a hold gets another one only after so long, ms; and while somebody is awaited who may have renewed a
-- session that was ended here, it is known for so much longer that it was, s.
local HOLDS_KEPT_MS, ENDED_KEPT_S = 3600000, 3600

-- Everything that is kept for a time is forgotten in parts: what one tick leaves, the next ones take. Until then it
-- counts no more, because whoever reads it compares times.
local sweep
do
  local is_swept = true

  -- So many members of a sorted set are due up to `bound`, as far as one call forgets them.
  local function due(key, bound, most)
    local count = redis.call('ZCOUNT', key, '-inf', bound)
    is_swept = is_swept and count <= most
    return math.min(count, most)
  end

  -- The lowest members of a sorted set up to `bound`, so many at most, which it has no more.
  local function take(key, bound, most)
    local count = due(key, bound, most)
    if count == 0 then return {} end
    local members = redis.call('ZRANGE', key, 0, count - 1)
    redis.call('ZREMRANGEBYRANK', key, 0, count - 1)
    return members
  end

  local function forget(key, bound)
    local count = due(key, bound, MANY)
    if count > 0 then redis.call('ZREMRANGEBYRANK', key, 0, count - 1) end
  end

  -- When a visitor's session has expired, only its bit in `entered` is kept. Returns how many have.
  local function end_sessions()
    local live = 0
    local ended, visitors = take(keys.sessions, '(' .. sessions_from(line, now), MANY_RECORDS), {}
    if #ended == 0 then return 0 end
    for i, text in ipairs(redis.call('HMGET', keys.records, unpack(ended))) do
      local record = unpack_record(text)
      if record and record.kind == 'v' then visitors[#visitors + 1] = ended[i] end
      if record and record.status == 0 then live = live + 1 end
    end
    if #visitors > 0 then redis.call('HDEL', keys.records, unpack(visitors)) end
    COUNTS.left(keys.counts, now, 'session_expired', live)
    return #ended
  end

  local function forget_old_tokens(most)
    local old = take(keys.tokens, now_s - args.tokens_kept_seconds, most)
    if #old > 0 then redis.call('HDEL', keys.records, unpack(old)) end
  end

  -- Whoever has stopped asking has left the door.
  local function clear_door()
    local silent = take(keys.asked, '(' .. now - ASKS_AGAIN_MS, MANY)
    if #silent > 0 then redis.call('ZREM', keys.door, unpack(silent)) end
  end

  -- Returns whether nothing is left of what is due.
  sweep = function(seatless_kept_ms)
    clear_door()
    forget_old_tokens(MANY_RECORDS - end_sessions())
    -- What can no longer be rebuilt from a ticket, or from what somebody tells late, need not be remembered: a ticket may
    -- be of a renewal that nobody knows of as long as sessions are kept for that.
    local is_one_awaited = redis.call('HGET', keys.line, 'awaits') ~= false
    local until_s = math.min(now_s - (is_one_awaited and ENDED_KEPT_S or 0), math.floor(sessions_from(line, now) / 1000))
    forget(keys.ended, '(' .. until_s)
    -- Who had asked when the room was held has its time anew after it, however long that was.
    local counts_from = line.held_at + seatless_kept_ms > now and line.held_from or now
    forget(keys.seatless, counts_from - seatless_kept_ms)
    forget(keys.passed, now - seatless_kept_ms)
    forget(keys.holds, now - HOLDS_KEPT_MS)
    return is_swept
  end
end

-- Since when (unix s) everyone of a row has been able to claim.
local function since(row)
  return math.floor(math.max(row.issued, row.joined, line.held_at) / 1000)
end

-- The rows of one pass, the lowest first, from those above or up to a serving counter.
local function some_rows(from, to)
  local rows = redis.call('ZRANGEBYSCORE', keys.rows, from, to, 'LIMIT', 0, MANY_ROWS)
  for i, member in ipairs(rows) do rows[i] = row_of(member) end
  return rows
end

-- Expires whole rows whose time to claim is over, oldest first.
local function expire_positions()
  for _, row in ipairs(some_rows(string.format('(%d', line.expired_position), '+inf')) do
    if row.counter > line.queue_counter then return end
    if now_s - since(row) <= settings.position_expiry_seconds then return end
    local first = line.expired_position + 1
    local over = count_bits(keys.entered, first, row.counter)
    local nobodys = GAPS.within(keys, line, first, row.counter)
    local unclaimed = math.max(row.counter - line.expired_position - over - nobodys, 0)
    redis.call('HINCRBY', keys.line, 'expired', unclaimed)
    COUNTS.left(keys.counts, now, 'turn_missed', unclaimed)
    redis.call('HSET', keys.line, 'expired_position', row.counter)
    line.expired_position = row.counter
    if settings.advance_on_position_expiry and row.who == 'o' and unclaimed > 0 then
      raise_serving(keys, line, GAPS.beyond(keys, line, line.serving_counter + unclaimed), now, 'o')
    end
  end
end

-- Rows are kept as long as a visitor may still claim late. Later rows are of later times.
local function forget_old_rows()
  for _, row in ipairs(some_rows('-inf', line.expired_position)) do
    if now_s - since(row) <= 2 * settings.position_expiry_seconds + 60 then return end
    drop_row(keys, row)
  end
end

-- Where no position expires, nobody asks when it was served: the last row stands for all.
local function forget_all_rows_but_the_last()
  local last = math.min(redis.call('ZCARD', keys.rows) - 2, MANY_ROWS - 1)
  if last >= 0 then redis.call('ZREMRANGEBYRANK', keys.rows, 0, last) end
end

-- Those who keep asking, at most SHOWN of them, evenly chosen.
local SHOWN = 16
local function show_door()
  local shown, all = {}, redis.call('ZCARD', keys.door)
  for nth = 0, all - 1, math.max(math.floor(all / SHOWN), 1) do
    local position = redis.call('ZRANGE', keys.door, nth, nth)[1]
    shown[#shown + 1] = { tonumber(position), nth }
  end
  return shown
end

-- Notes the time of the tick. After a pause of all leaders or of Redis, visitors are excused because
-- they may not have been able to check in; and after a jump of the server's clock, because that may have taken the
-- bits of those who had. While nobody may enter, the time to claim stands still.
local function note_the_time()
  excuse(line, settings.reopened_at)
  if line.ticked_at > 0 and line.ticked_ahead ~= stamp.clock_ahead then excuse(line, now) end
  if line.ticked_at > 0 and now - line.ticked_at > PAUSE_MS then excuse(line, now) end
  if is_held(settings, line) then
    -- Held again before the time of those was over who had some left when it was held last: for them it is one time in
    -- which the room is held. Whose was over then is known to be so all the same.
    local expiry = settings.position_expiry_seconds
    local is_anew = line.held_at < line.ticked_at and not (expiry and now - line.held_at <= 2 * expiry * 1000)
    if is_anew then line.held_from = now end
    line.held_at = now
  end
  redis.call('HSET', keys.line, 'excused_until', line.excused_until, 'presence_from',
    line.presence_from, 'ticked_at', now, 'ticked_ahead', stamp.clock_ahead, 'held_from', line.held_from,
    'held_at', line.held_at, 'numbers_ticked', line.queue_counter, 'numbers_ticked_at', now)
end

-- Whether the room may rest: nobody waits, in line or for a draw.
local function is_still()
  return args.settled and nobody_waits(line) and line.pool_first == 0 and not settings.phase_is_over
    and redis.call('ZCARD', keys.door) == 0
end

-- When the next position expires, ms; nil: none does as things are.
local function position_expires_at()
  local passed = string.format('(%d', line.expired_position)
  local next_row = settings.position_expiry_seconds
    and redis.call('ZRANGEBYSCORE', keys.rows, passed, '+inf', 'LIMIT', 0, 1)[1]
  local row = next_row and row_of(next_row)
  if not row or row.counter > line.queue_counter then return nil end
  return (since(row) + settings.position_expiry_seconds + 1) * 1000
end

-- When something is due by itself in a room that rests, ms; 0: nothing is. What is only tidied up can wait.
local function due_at(rate_resumes_at_ms)
  local due = settings.until_ms or math.huge
  local session = redis.call('ZRANGE', keys.sessions, 0, 0, 'WITHSCORES')
  if session[2] then due = math.min(due, math.max(session[2], line.kept_until) + 1) end
  if line.unconfirmed > 0 and line.unconfirmed_until >= now then due = math.min(due, line.unconfirmed_until + 1) end
  if rate_resumes_at_ms > 0 then due = math.min(due, rate_resumes_at_ms) end
  due = math.min(due, position_expires_at() or due)
  return due < math.huge and due or 0
end

keep_pool(keys.line, line, settings)
note_the_time()
local is_swept = sweep(settings.position_expiry_seconds and (settings.position_expiry_seconds + 60) * 2000 or 60000)
if settings.position_expiry_seconds then
  expire_positions()
  forget_old_rows()
else
  forget_all_rows_but_the_last()
end
local texts = phase_texts(keys.settings, settings)
local counted, near = count_line(keys, line, args.line_chunks, now)
local blocks, bits = {}, {}
for _, block in ipairs(near) do
  blocks[#blocks + 1] = block.block
  for _, text in ipairs({ block.checked_in, block.unattended, block.over }) do bits[#bits + 1] = text end
end
local resumes_at_ms = rate_resumes_at(keys.rate, settings.new_users_per_minute, now)
-- Where presence is known, nobody has to be told who may not be there.
local unheard = now < line.presence_from and LEFT_OUT.read(redis.call('HGET', keys.line, 'left_out')) or {}
local active = seats_taken(keys.sessions, line, now)
COUNTS.level(keys.counts, now, 'i0', active)
rest(is_still())
if stamp.rests then publish(keys, args.room, now) end
return seal({ encode({
  now_ms = now, queue_counter = line.queue_counter, serving_counter = line.serving_counter,
  expired_position = line.expired_position, active = active,
  admitted_last_minute = rate_used(keys.rate, now), held = held_seats(keys, now), promised = line.promised,
  presence_from_ms = line.presence_from, left_out = unheard, heard_at_ms = line.heard_at,
  admitted = line.admitted,
  aws_joined = line.aws_joined, aws_admitted = line.aws_admitted, kept_out = line.kept_out,
  over = line.admitted + line.left + line.expired + line.skipped, nobody_waits = nobody_waits(line),
  line = counted, pool = count_pool(keys, line, args.pool_chunks, now), near = blocks,
  door = show_door(), at_door = at_door(keys, now), came_known = line.came_known,
  came_unknown = line.came_unknown, came_after_ms = line.came_after_ms,
  rate_resumes_at_ms = resumes_at_ms,
  spread_left = settings.new_users_per_minute and spread_left(keys.rate, settings.new_users_per_minute, now),
  pool_first = line.pool_first, pool_last = line.pool_last,
  pool_id = redis.call('HGET', keys.line, 'pool_id') or '', draw_count = line.draw_count,
  settings = texts.settings, event = texts.event,
  config_version = tonumber(redis.call('HGET', keys.settings, 'version')) or 0,
  phase_is_over = settings.phase_is_over, rests = stamp.rests, due_ms = stamp.rests and due_at(resumes_at_ms) or 0,
  swept = is_swept,
}), unpack(bits) })
