--[[ begin_tick: the first half of the leader's tick. Ends expired sessions and positions, and
reports the room's state.

KEYS  line sessions records tokens settings rate rows entered door presence unattended
ARGV  now_ms document
Returns {now_ms queue_counter serving_counter expired_position active admitted_last_minute promised
      promised_at_ms presence_from_ms admitted leases unattended rate_resumes_at_ms pool_first
      pool_last pool_id draw_count settings event config_version phase_is_over}
      leases: "lease count lease count …" in one text, because there may be thousands;
      unattended: lists of first, last and count; rate_resumes_at_ms: 0 = the rate is not used up;
      settings, event: JSON.
Keeps a stale leader changes nothing; a position expires exactly when its time is over.
]]
local args = arguments({
  leader_epoch = 'integer',
  -- How long records of AWS-style tokens are kept after they expired.
  tokens_kept_seconds = 'integer',
})
local now = time_ms(ARGV[1])
local now_s = math.floor(now / 1000)
local line, settings = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
local MANY = 5000
-- After a longer pause of all leaders, missed check-ins are excused, ms.
local PAUSE_MS = 15000

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
    local entered = redis.call('BITCOUNT', keys.entered, first, row.counter, 'BIT')
    local unclaimed = math.max(row.counter - line.expired_position - entered, 0)
    redis.call('HINCRBY', keys.line, 'expired', unclaimed)
    redis.call('HSET', keys.line, 'expired_position', row.counter)
    line.expired_position = row.counter
    if settings.advance_on_position_expiry and row.who == 'o' and unclaimed > 0 then
      raise_serving(keys, line, line.serving_counter + unclaimed, now, 'o')
    end
  end
end

-- Rows are kept as long as a visitor may still claim late.
local function forget_old_rows()
  local gone = redis.call('ZRANGEBYSCORE', keys.rows, '-inf', line.expired_position)
  for _, member in ipairs(gone) do
    local row = row_of(member)
    if now_s - since(row) > 2 * settings.position_expiry_seconds + 60 then drop_row(keys, row) end
  end
  local kept_ms = (settings.position_expiry_seconds + 60) * 2000
  redis.call('ZREMRANGEBYSCORE', keys.door, '-inf', now - kept_ms)
end

-- Counts of waiting AWS-style visitors: one range up to the serving counter, then ranges that widen
-- with the distance behind it.
local function unattended()
  local crowds = {}
  if redis.call('EXISTS', keys.unattended) == 0 then return crowds end
  local function count(first, last)
    if first > last then return end
    local people = redis.call('BITCOUNT', keys.unattended, first, last, 'BIT')
    if people > 0 then crowds[#crowds + 1] = { first, last, people } end
  end
  local serving = math.max(line.serving_counter, 0)
  count(line.expired_position + 1, serving)
  local first = serving + 1
  while first <= line.queue_counter do
    local last = math.min(first + math.floor((first - serving) / 16), line.queue_counter)
    count(first, last)
    first = last + 1
  end
  return crowds
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
if settings.position_expiry_seconds then
  expire_positions()
  forget_old_rows()
else
  redis.call('ZREMRANGEBYSCORE', keys.door, '-inf', now - 60000)
end
local texts = phase_texts(keys.settings, settings)
return encode({
  now_ms = now, queue_counter = line.queue_counter, serving_counter = line.serving_counter,
  expired_position = line.expired_position, active = seats_taken(keys.sessions, line, now),
  admitted_last_minute = rate_used(keys.rate, now), promised = line.promised,
  promised_at_ms = line.promised_at, presence_from_ms = line.presence_from,
  admitted = line.admitted, leases = table.concat(redis.call('HGETALL', keys.presence), ' '),
  unattended = unattended(),
  rate_resumes_at_ms = rate_resumes_at(keys.rate, settings.new_users_per_minute, now),
  pool_first = line.pool_first, pool_last = line.pool_last,
  pool_id = redis.call('HGET', keys.line, 'pool_id') or '', draw_count = line.draw_count,
  settings = texts.settings, event = texts.event,
  config_version = tonumber(redis.call('HGET', keys.settings, 'version')) or 0,
  phase_is_over = settings.phase_is_over,
})
