--[[ begin_tick: the first half of the leader's tick. Lets go of what has run out, and says how the
room stands.

KEYS  1 line (hash)  2 sessions (zset)  3 records (hash)  4 tokens (zset)  5 settings (hash)
      6 rate (hash)  7 rows (zset)  8 entered (bitmap)  9 door (zset)  10 presence (hash)
      11 unattended (bitmap)
ARGV  1 now (ms, 0 = the server's clock)  2 the leader's epoch  3 how long records of AWS-style
      tokens are kept after they expired, s
Returns {{now ms, queue counter, serving counter, expired position, seats taken, admissions of the
      last minute, promised, promised at ms, presence from ms, admitted}, {lease, count, …},
      {first, last, count of AWS-style visitors who have not entered, …}, when the rate resumes (ms,
      0 = it is not used up), {first and last number and draw id of the pool that waits for a draw,
      draws so far}, {settings and event in force as JSON, version of the config, whether the page
      must be turned (0, 1)}}
Keeps a stale leader changes nothing; a position expires exactly when its time is over.
]]
assert(#KEYS == 11 and #ARGV == 3, 'begin_tick: wrong number of keys or arguments')
local keys = { line = KEYS[1], sessions = KEYS[2], rows = KEYS[7], door = KEYS[9] }
local now = time_ms(ARGV[1])
local now_s = math.floor(now / 1000)
local line = read_line(keys.line)
if not line then return no_room() end
local refusal = fenced(keys.line, line, tonumber(ARGV[2]))
if refusal then return refusal end
local settings = read_settings(KEYS[5], now)
local MANY = 5000
-- A longer pause of all leaders is not held against those who wait, ms.
local PAUSE_MS = 15000

-- Sessions that ran out: a visitor's leaves only the bit that it has entered.
local function end_sessions()
  local ended = redis.call('ZRANGEBYSCORE', keys.sessions, '-inf', '(' .. now, 'LIMIT', 0, MANY)
  if #ended == 0 then return end
  redis.call('ZREM', keys.sessions, unpack(ended))
  for i, text in ipairs(redis.call('HMGET', KEYS[3], unpack(ended))) do
    local record = unpack_record(text)
    if record and record.kind == 'v' then redis.call('HDEL', KEYS[3], ended[i]) end
  end
end

local function forget_old_tokens()
  local old = redis.call(
    'ZRANGEBYSCORE', KEYS[4], '-inf', now_s - tonumber(ARGV[3]), 'LIMIT', 0, MANY)
  if #old == 0 then return end
  redis.call('ZREM', KEYS[4], unpack(old))
  redis.call('HDEL', KEYS[3], unpack(old))
end

-- Since when (unix s) all of a row have had the chance to claim.
local function since(row)
  return math.floor(math.max(row.issued, row.joined, line.held_at) / 1000)
end

-- Expires whole rows, oldest first; returns the next row's boundary once all is done.
local function expire_positions()
  local passed = string.format('(%d', line.expired_position)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys.rows, passed, '+inf')) do
    local row = row_of(member)
    if row.counter > line.queue_counter then return end
    if now_s - since(row) <= settings.expiry then return end
    local first = line.expired_position + 1
    local entered = redis.call('BITCOUNT', KEYS[8], first, row.counter, 'BIT')
    local unclaimed = math.max(row.counter - line.expired_position - entered, 0)
    redis.call('HINCRBY', keys.line, 'expired', unclaimed)
    redis.call('HSET', keys.line, 'expired_position', row.counter)
    line.expired_position = row.counter
    if settings.auto and row.who == 'o' and unclaimed > 0 then
      raise_serving(keys, line, line.serving_counter + unclaimed, now, 'o')
    end
  end
end

-- Rows are kept as long as someone may still come back late.
local function forget_old_rows()
  local gone = redis.call('ZRANGEBYSCORE', keys.rows, '-inf', line.expired_position)
  for _, member in ipairs(gone) do
    local row = row_of(member)
    if now_s - since(row) > 2 * settings.expiry + 60 then drop_row(keys, row) end
  end
  redis.call('ZREMRANGEBYSCORE', keys.door, '-inf', now - (settings.expiry + 60) * 2000)
end

-- AWS-style visitors: exactly at the door, in ranges that widen with the distance behind it.
local function unattended()
  local crowds = {}
  if redis.call('EXISTS', KEYS[11]) == 0 then return crowds end
  local function count(first, last)
    if first > last then return end
    local people = redis.call('BITCOUNT', KEYS[11], first, last, 'BIT')
    if people > 0 then
      crowds[#crowds + 1], crowds[#crowds + 2], crowds[#crowds + 3] = first, last, people
    end
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

-- While nobody led, or Redis was away, nobody may have been able to check in; and while nobody may
-- enter, nobody's time to claim runs.
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
if settings.expiry then
  expire_positions()
  forget_old_rows()
else
  redis.call('ZREMRANGEBYSCORE', keys.door, '-inf', now - 60000)
end
return {
  {
    now, line.queue_counter, line.serving_counter, line.expired_position,
    seats_taken(keys.sessions, line, now), rate_used(KEYS[6], now), line.promised,
    line.promised_at, line.presence_from, line.admitted,
  },
  redis.call('HGETALL', KEYS[10]),
  unattended(),
  rate_resumes_at(KEYS[6], settings.rate, now),
  {
    line.pool_first, line.pool_last, redis.call('HGET', keys.line, 'pool_id') or '',
    line.draw_count,
  },
  {
    settings.json, settings.event, redis.call('HGET', KEYS[5], 'version') or 0,
    settings.has_turned and 1 or 0,
  },
}
