--[[ claim: a batch of visitors enters. The hard gate of the room.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 records (hash)  5 tokens (zset)
      6 entered (bitmap, by position)  7 rate (hash)  8 rows (zset)  9 door (zset: position ->
      when it last asked for a seat, ms)  10 traffic (hash)  11 unattended (bitmap)
ARGV  1 now (ms, 0 = the server's clock)  2 key id for new tokens, then for each claim:
      reset epoch of its request id, how many draws its position takes into account, queue number,
      position ("" = it waits for its draw), whether it has won in a random room (0, 1), entry time
      (unix s), kind ("v" visitor's calls, "a" AWS-style), request id, issuer, validity (s, "" = as
      the room says)
Returns {now ms, reset epoch, generation, admissions so far, {outcome, issued at, expires at, key id, issuer} per claim}; outcomes:
      1 entered now  2 has entered already: the same again  3 not served yet  4 served, no seat
      free  5 position expired  6 its session has ended  7 id of before a reset
      8 suspended: enter uncounted
Keeps (2) seats and rate never over their limits; (3) one session and one token per request id;
      no number enters twice.
]]
assert(#KEYS == 11 and #ARGV >= 2 and (#ARGV - 2) % 10 == 0,
  'claim: wrong number of keys or arguments')
local keys = {
  line = KEYS[1], sessions = KEYS[3], records = KEYS[4], tokens = KEYS[5], entered = KEYS[6],
  rate = KEYS[7], rows = KEYS[8], door = KEYS[9],
}
local now = time_ms(ARGV[1])
local now_s = math.floor(now / 1000)
local line = read_line(keys.line)
if not line then return no_room() end
local settings = read_settings(KEYS[2], now)

local waiting = line.queue_counter > line.serving_counter
  or redis.call('ZCOUNT', keys.door, now - 4000, '+inf') > 0
local free = 0
local open = is_open(settings, line)
if open then
  free = math.huge
elseif not is_held(settings, line) then
  free = math.min(
    seats_left(keys.sessions, settings, line, now), rate_left(keys.rate, settings.rate, now, waiting))
end

local function has_expired(claim)
  -- Whom the counter has not reached has not been told to come either.
  if not settings.expiry or claim.position > line.serving_counter then return false end
  local late = now_s - served_since(keys, line, claim.position, claim.entered_at)
  -- A visitor who comes back a little late takes the next free seat instead of a new place.
  if claim.kind == 'v' then return late > 2 * settings.expiry end
  return late > settings.expiry
end

local function enter(claim)
  local validity = claim.kind == 'v' and settings.session or claim.validity or settings.validity
  local record = {
    iat = now_s, exp = now_s + validity, status = 0, kind = claim.kind, kid = ARGV[2],
    request_id = claim.request_id, issuer = claim.issuer,
  }
  seat(keys, claim.number, claim.position, record)
  redis.call('ZREM', keys.door, claim.position)
  if redis.call('GETBIT', KEYS[11], claim.number) == 1 then
    redis.call('SETBIT', KEYS[11], claim.number, 0)
  end
  if claim.kind == 'a' and record.exp > line.tokens_until then
    line.tokens_until = record.exp
    redis.call('HSET', keys.line, 'tokens_until', record.exp)
  end
  -- It asked at the door while its row expired: it is no longer one of those who did not come.
  if claim.position <= line.expired_position then
    redis.call('HINCRBY', keys.line, 'expired', -1)
  end
  return record
end

local entered = 0
local function decide(claim)
  if claim.reset_epoch ~= line.reset_epoch then return { 7 } end
  catch_up(keys.line, line, claim.number)
  if settings.suspended then
    local validity = claim.kind == 'v' and settings.session or settings.validity
    return { 8, now_s, now_s + validity, ARGV[2], claim.issuer }
  end
  -- A position from before a draw is none any more.
  if not claim.position or claim.draws ~= line.draw_count then return { 3 } end
  if claim.position > line.serving_counter and not claim.won and not open then return { 3 } end
  local record = unpack_record(redis.call('HGET', keys.records, claim.number))
  if record then
    if record.status ~= 0 then return { 6 } end
    if record.kind == 'v' then
      if not is_live(keys, claim.number, now) then return { 6 } end
      renew(keys, settings, claim.number, record, ARGV[2], now)
    end
    return { 2, record.iat, record.exp, record.kid, record.issuer }
  end
  if redis.call('GETBIT', keys.entered, claim.position) == 1 then return { 6 } end
  if has_expired(claim) then return { 5 } end
  if entered >= free then
    redis.call('ZADD', keys.door, now, claim.position)
    return { 4 }
  end
  entered = entered + 1
  record = enter(claim)
  return { 1, record.iat, record.exp, record.kid, record.issuer }
end

local outcomes = {}
for i = 3, #ARGV, 10 do
  outcomes[#outcomes + 1] = decide({
    reset_epoch = tonumber(ARGV[i]), draws = tonumber(ARGV[i + 1]), number = tonumber(ARGV[i + 2]),
    position = tonumber(ARGV[i + 3]), won = ARGV[i + 4] == '1', entered_at = tonumber(ARGV[i + 5]),
    kind = ARGV[i + 6], request_id = ARGV[i + 7], issuer = ARGV[i + 8],
    validity = tonumber(ARGV[i + 9]),
  })
end
if entered > 0 then
  rate_take(keys.rate, settings.rate, now, waiting and not open, entered)
  redis.call('HSET', keys.line, 'promised', math.max(line.promised - entered, 0))
  redis.call('HINCRBY', keys.line, 'admitted', entered)
  redis.call('HINCRBY', KEYS[10], math.floor(now / 60000) .. '.a', entered)
end
return { now, line.reset_epoch, line.generation, line.admitted + entered, outcomes }
