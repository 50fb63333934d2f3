--[[ join: reserve queue numbers for a batch of newcomers of one region.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 records (hash)  5 tokens (zset)
      6 entered (bitmap)  7 rate (hash)  8 rows (zset)  9 grants (hash: slots by region)
      10 traffic (hash)  11 unattended (bitmap)  12 presence (hash)
ARGV  1 now (ms, 0 = the server's clock)  2 region's name  3 how many  4 mode: "enter" (take a seat
      at once if one is free) or "queue" (AWS-style: claim later)  5 reset epoch of what the caller
      has seen  6 highest queue number it has seen  7 key id and 8 issuer of the tokens of those who
      enter
Returns {now ms, reset epoch, generation, first number, seated (the first so many entered, -1: the
      room is suspended and everyone enters uncounted), serving counter, issued at, expires at,
        admissions so far, the index of the draw that they wait for (-1: of none), {how many of
      the seats were the region's own, anywhere's, lent by other regions}}
Keeps (1) numbers are handed out once, in order; (2) seats and rate stay within their limits;
      (4) nobody enters here while anyone waits whom the counter has not reached, unless the room
      is open to all; nobody is queued while a slot is free, whichever region it was granted to.
]]
assert(#KEYS == 12 and #ARGV == 8, 'join: wrong number of keys or arguments')
local keys = {
  line = KEYS[1], sessions = KEYS[3], records = KEYS[4], tokens = KEYS[5], entered = KEYS[6],
  rate = KEYS[7], rows = KEYS[8],
}
local now = time_ms(ARGV[1])
local count, enter = tonumber(ARGV[3]), ARGV[4] == 'enter'
local line = read_line(keys.line)
if not line then return no_room() end
local settings = read_settings(KEYS[2], now)

-- The caller may not have heard of a reset yet.
if tonumber(ARGV[5]) == line.reset_epoch then catch_up(keys.line, line, tonumber(ARGV[6])) end
keep_pool(keys.line, line, settings)
local pool = line.pool_first > 0 and line.pool_last == 0 and line.draw_count or nil
local before = line.queue_counter
local after = redis.call('HINCRBY', keys.line, 'queue_counter', count)
local minute = math.floor(now / 60000)
redis.call('HINCRBY', KEYS[10], minute .. '.r.' .. ARGV[2], count)

-- AWS-style clients do not check in: until they enter or expire, they count as there.
if not enter then
  for number = before + 1, after do redis.call('SETBIT', KEYS[11], number, 1) end
end

local iat = math.floor(now / 1000)
local exp = iat + settings.session
if settings.suspended then
  return { now, line.reset_epoch, line.generation, before + 1, enter and -1 or 0,
    line.serving_counter, iat, exp, line.admitted, -1, { 0, 0, 0 } }
end

-- How many of the batch the counter has already passed, and how many it may now pass.
local served = math.min(math.max(line.serving_counter - before, 0), count)
local limited = settings.total or settings.rate
local free = 0
local first_in_line = line.serving_counter >= before
local open = is_open(settings, line)
if open then
  free = count
elseif first_in_line and not is_held(settings, line) then
  free = math.min(
    seats_left(keys.sessions, settings, line, now), rate_left(keys.rate, settings.rate, now, false))
end
-- Where everyone enters, those do who enter here; whoever takes a number only stays in line.
local moves = open and enter or limited and not open
if moves and first_in_line then
  local promised = open and 0 or line.promised
  local more = math.min(math.max(free - promised - served, 0), count - served)
  if more > 0 then
    served = served + more
    raise_serving(keys, line, before + served, now, 't')
    if not enter then
      redis.call('HSET', keys.line, 'promised', line.promised + more, 'promised_at', now)
    end
  end
end

-- An operator's increments served rows before their last visitor came: that is now.
local early = first_in_line and redis.call('ZRANGEBYSCORE', keys.rows, '(' .. before, after) or {}
for _, member in ipairs(early) do
  local row = row_of(member)
  if row.issued < now then
    redis.call('ZREM', keys.rows, member)
    add_row(keys, row.counter, row.issued, row.who, now)
  end
end

local seated, own, anywhere, lent = 0, 0, 0, 0
if enter then
  seated = open and count or math.min(served, free)
  local record = { iat = iat, exp = exp, status = 0, kind = 'v', kid = ARGV[7], request_id = '',
    issuer = ARGV[8] }
  for number = before + 1, before + seated do seat(keys, number, number, record) end
  if seated > 0 then
    rate_take(keys.rate, settings.rate, now, false, seated)
    redis.call('HINCRBY', keys.line, 'admitted', seated)
    redis.call('HINCRBY', KEYS[10], minute .. '.a', seated)
    own, anywhere, lent = take_slots(KEYS[9], ARGV[2], seated)
  end
  -- In the same call, or the leader could take them for people who have left.
  count_newcomers(KEYS[12], before + seated + 1, after, line.serving_counter, now, pool)
end
return { now, line.reset_epoch, line.generation, before + 1, seated, line.serving_counter, iat, exp,
  line.admitted + seated, pool or -1, { own, anywhere, lent } }
