--[[ begin_tick: the first half of the leader's tick. Ends expired sessions and positions, and
reports the room's state.

KEYS  line sessions records tokens settings rate rows entered door asked passed seatless holds unattended there scratch
ARGV  now_ms document
Returns {now_ms queue_counter serving_counter expired_position active admitted_last_minute held promised
      presence_from_ms heard_at_ms admitted aws_joined aws_admitted nobody_waits line pool near door
      at_door came_known came_unknown came_after_ms rate_resumes_at_ms pool_first pool_last pool_id draw_count settings event
      config_version phase_is_over}, then three texts for each block of `near`
      nobody_waits: then nothing is counted; line, pool: counts of chunks, see `count_chunk`; near: the
      blocks that follow bit by bit: places that have checked in, that AWS-style visitors hold, that are over; door: positions of some who keep
      asking, in order, evenly chosen of all `at_door`; rate_resumes_at_ms: 0 = the rate is not used up;
      held: seats held for visitors who were called. settings, event: JSON.
Keeps a stale leader changes nothing; a position expires exactly when its time is over.
]]
local args = arguments({
  leader_epoch = 'integer',
  -- How long records of AWS-style tokens are kept after they expired.
  tokens_kept_seconds = 'integer',
  -- Chunks to count: of the line, and of the pool that waits for a draw.
  line_chunks = 'table', pool_chunks = 'table',
})
local now = time_ms(ARGV[1])
local now_s = math.floor(now / 1000)
local line, settings = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
local MANY = 1000
-- After a longer pause of all leaders, missed check-ins are excused, ms.
local PAUSE_MS = 15000
-- A place that had a hold gets another one only after so long, ms.
local HOLDS_KEPT_MS = 3600000

-- When a visitor's session has expired, only its bit in `entered` is kept.
local function end_sessions()
  local ended = redis.call('ZRANGEBYSCORE', keys.sessions, '-inf', '(' .. now, 'LIMIT', 0, MANY)
  if #ended == 0 then return end
  redis.call('ZREM', keys.sessions, unpack(ended))
  for i, text in ipairs(redis.call('HMGET', keys.records, unpack(ended))) do
    local record = unpack_record(text)
    if record and record.kind == 'v' then redis.call('HDEL', keys.records, ended[i]) end
  end
end

local function forget_old_tokens()
  local old = redis.call(
    'ZRANGEBYSCORE', keys.tokens, '-inf', now_s - args.tokens_kept_seconds, 'LIMIT', 0, MANY)
  if #old == 0 then return end
  redis.call('ZREM', keys.tokens, unpack(old))
  redis.call('HDEL', keys.records, unpack(old))
end

-- Since when (unix s) everyone of a row has been able to claim.
local function since(row)
  return math.floor(math.max(row.issued, row.joined, line.held_at) / 1000)
end

-- Expires whole rows whose time to claim is over, oldest first.
local function expire_positions()
  local passed = string.format('(%d', line.expired_position)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys.rows, passed, '+inf')) do
    local row = row_of(member)
    if row.counter > line.queue_counter then return end
    if now_s - since(row) <= settings.position_expiry_seconds then return end
    local first = line.expired_position + 1
    local over = count_bits(keys.entered, first, row.counter)
    local unclaimed = math.max(row.counter - line.expired_position - over, 0)
    redis.call('HINCRBY', keys.line, 'expired', unclaimed)
    redis.call('HSET', keys.line, 'expired_position', row.counter)
    line.expired_position = row.counter
    if settings.advance_on_position_expiry and row.who == 'o' and unclaimed > 0 then
      raise_serving(keys, line, line.serving_counter + unclaimed, now, 'o')
    end
  end
end

local function forget_seatless(before_ms)
  redis.call('ZREMRANGEBYSCORE', keys.seatless, '-inf', before_ms)
  redis.call('ZREMRANGEBYSCORE', keys.passed, '-inf', before_ms)
  redis.call('ZREMRANGEBYSCORE', keys.holds, '-inf', now - HOLDS_KEPT_MS)
end

-- Whoever has stopped asking has left the door.
local function clear_door()
  local silent =
    redis.call('ZRANGEBYSCORE', keys.asked, '-inf', '(' .. now - ASKS_AGAIN_MS, 'LIMIT', 0, MANY)
  if #silent == 0 then return end
  redis.call('ZREM', keys.asked, unpack(silent))
  redis.call('ZREM', keys.door, unpack(silent))
end

-- Rows are kept as long as a visitor may still claim late.
local function forget_old_rows()
  local gone = redis.call('ZRANGEBYSCORE', keys.rows, '-inf', line.expired_position)
  for _, member in ipairs(gone) do
    local row = row_of(member)
    if now_s - since(row) > 2 * settings.position_expiry_seconds + 60 then drop_row(keys, row) end
  end
  local kept_ms = (settings.position_expiry_seconds + 60) * 2000
  forget_seatless(now - kept_ms)
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
-- they may not have been able to check in. While nobody may enter, the time to claim stands still.
local function note_the_time()
  excuse(line, settings.reopened_at)
  if line.ticked_at > 0 and now - line.ticked_at > PAUSE_MS then excuse(line, now) end
  if is_held(settings, line) then line.held_at = now end
  redis.call('HSET', keys.line, 'excused_until', line.excused_until, 'presence_from',
    line.presence_from, 'ticked_at', now, 'held_at', line.held_at)
end

keep_pool(keys.line, line, settings)
note_the_time()
end_sessions()
forget_old_tokens()
clear_door()
if settings.position_expiry_seconds then
  expire_positions()
  forget_old_rows()
else
  forget_seatless(now - 60000)
end
local texts = phase_texts(keys.settings, settings)
local counted, near = count_line(keys, line, args.line_chunks, now)
local blocks, bits = {}, {}
for _, block in ipairs(near) do
  blocks[#blocks + 1] = block.block
  for _, text in ipairs({ block.checked_in, block.unattended, block.over }) do bits[#bits + 1] = text end
end
return { encode({
  now_ms = now, queue_counter = line.queue_counter, serving_counter = line.serving_counter,
  expired_position = line.expired_position, active = seats_taken(keys.sessions, line, now),
  admitted_last_minute = rate_used(keys.rate, now), held = held_seats(keys, now), promised = line.promised,
  presence_from_ms = line.presence_from, heard_at_ms = line.heard_at, admitted = line.admitted,
  aws_joined = line.aws_joined, aws_admitted = line.aws_admitted,
  nobody_waits = nobody_waits(line), line = counted, pool = count_pool(keys, line, args.pool_chunks, now), near = blocks,
  door = show_door(), at_door = at_door(keys, now), came_known = line.came_known,
  came_unknown = line.came_unknown, came_after_ms = line.came_after_ms,
  rate_resumes_at_ms = rate_resumes_at(keys.rate, settings.new_users_per_minute, now),
  pool_first = line.pool_first, pool_last = line.pool_last,
  pool_id = redis.call('HGET', keys.line, 'pool_id') or '', draw_count = line.draw_count,
  settings = texts.settings, event = texts.event,
  config_version = tonumber(redis.call('HGET', keys.settings, 'version')) or 0,
  phase_is_over = settings.phase_is_over,
}), unpack(bits) }
