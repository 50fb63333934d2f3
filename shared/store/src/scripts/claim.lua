--[[ claim: a batch of visitors enters as far as seats and rate allow.

KEYS  line settings sessions records tokens entered rate rows door traffic unattended
ARGV  now_ms key_id | reset_epoch draws number position won entered_at kind request_id issuer validity_seconds
Returns  now_ms reset_epoch generation admitted free_at_ms outcomes | outcome issued_at expires_at key_id issuer
      free_at_ms: when those without a seat may find one, unless somebody leaves or an operator changes
      something before; nil: nobody can say.
      key_id names the key of new tokens. Of each claim: reset epoch of its request id; how many
      draws its position takes into account; queue number; position ("" = it waits for its draw);
      whether it has won in a random room (0, 1); entry time (unix s); kind ("v" visitor's calls,
      "a" AWS-style); request id; issuer; validity ("" = as the room says).
      Outcomes: entered (now), repeated (it entered before: the same token), not_served,
      no_seat (served, but none is free), position_expired, session_ended, foreign (its id is from
      before a reset, or of somebody let in without a number), uncounted (the room is suspended: it enters without a seat).
Keeps (2) seats and rate never over their limits; (3) one session and one token per request id;
      no number enters twice.
]]
local now = time_ms(ARGV[1])
local now_s = math.floor(now / 1000)
local line, settings = read_room(keys, now)
if not line then return no_room() end

local waiting = line.queue_counter > line.serving_counter
  or redis.call('ZCOUNT', keys.door, now - 4000, '+inf') > 0
local free = 0
local open = is_open(settings, line)
if open then
  free = math.huge
elseif not is_held(settings, line) then
  free = math.min(seats_left(keys.sessions, settings, line, now),
    rate_left(keys.rate, settings.new_users_per_minute, now, waiting))
end

local function has_expired(claim)
  -- A position beyond the serving counter cannot expire yet.
  local expiry = settings.position_expiry_seconds
  if not expiry or claim.position > line.serving_counter then return false end
  local late = now_s - served_since(keys, line, claim.position, claim.entered_at)
  -- A visitor who comes back a little late takes the next free seat instead of a new place.
  if claim.kind == 'v' then return late > 2 * expiry end
  return late > expiry
end

local function enter(claim)
  local validity = claim.kind == 'v' and settings.session_duration_seconds or claim.validity_seconds
    or settings.token_validity_seconds
  local record = {
    iat = now_s, exp = now_s + validity, status = 0, kind = claim.kind, kid = args.key_id,
    request_id = claim.request_id, issuer = claim.issuer,
  }
  seat(keys, claim.number, claim.position, record)
  redis.call('ZREM', keys.door, claim.position)
  if redis.call('GETBIT', keys.unattended, claim.number) == 1 then
    redis.call('SETBIT', keys.unattended, claim.number, 0)
  end
  if claim.kind == 'a' and record.exp > line.tokens_until then
    line.tokens_until = record.exp
    redis.call('HSET', keys.line, 'tokens_until', record.exp)
  end
  -- Its row expired while it waited for a seat, and counted it as expired: take that back.
  if claim.position <= line.expired_position then
    redis.call('HINCRBY', keys.line, 'expired', -1)
  end
  return record
end

-- An outcome with the token that goes with it.
local function with_token(outcome, record)
  return { outcome = outcome, issued_at = record.iat, expires_at = record.exp, key_id = record.kid,
    issuer = record.issuer }
end

local entered, refused = 0, 0
local function decide(claim)
  if claim.reset_epoch ~= line.reset_epoch or claim.number == 0 then
    return { outcome = 'foreign' }
  end
  catch_up(keys.line, line, claim.number)
  if settings.suspended then
    local validity = claim.kind == 'v' and settings.session_duration_seconds
      or settings.token_validity_seconds
    return with_token('uncounted',
      { iat = now_s, exp = now_s + validity, kid = args.key_id, issuer = claim.issuer })
  end
  -- Since the caller computed the position, a draw has changed it.
  if not claim.position or claim.draws ~= line.draw_count then return { outcome = 'not_served' } end
  if claim.position > line.serving_counter and not claim.won and not open then
    return { outcome = 'not_served' }
  end
  local record = unpack_record(redis.call('HGET', keys.records, claim.number))
  if record then
    if record.status ~= 0 then return { outcome = 'session_ended' } end
    if record.kind == 'v' then
      if not is_live(keys, claim.number, now) then return { outcome = 'session_ended' } end
      renew(keys, settings, claim.number, record, args.key_id, now)
    end
    return with_token('repeated', record)
  end
  if redis.call('GETBIT', keys.entered, claim.position) == 1 then
    return { outcome = 'session_ended' }
  end
  if has_expired(claim) then return { outcome = 'position_expired' } end
  if entered >= free then
    redis.call('ZADD', keys.door, now, claim.position)
    refused = refused + 1
    return { outcome = 'no_seat' }
  end
  entered = entered + 1
  return with_token('entered', enter(claim))
end

local outcomes = {}
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  local claim = item_at(i)
  claim.reset_epoch, claim.draws = tonumber(claim.reset_epoch), tonumber(claim.draws)
  claim.number, claim.position = tonumber(claim.number), tonumber(claim.position)
  claim.won, claim.entered_at = claim.won == '1', tonumber(claim.entered_at)
  claim.validity_seconds = tonumber(claim.validity_seconds)
  outcomes[#outcomes + 1] = reply_item(decide(claim))
end
if entered > 0 then
  rate_take(keys.rate, settings.new_users_per_minute, now, waiting and not open, entered)
  redis.call('HSET', keys.line, 'promised', math.max(line.promised - entered, 0))
  redis.call('HINCRBY', keys.line, 'admitted', entered)
  redis.call('HINCRBY', keys.traffic, math.floor(now / 60000) .. '.a', entered)
end
local free_at
if refused > 0 and not is_held(settings, line) then
  local seat_at = seat_free_at(keys.sessions, settings, line, now)
  local rate_at = rate_free_at(keys.rate, settings.new_users_per_minute, now, waiting)
  free_at = seat_at and rate_at and math.max(seat_at, rate_at)
end
return reply({
  now_ms = now, reset_epoch = line.reset_epoch, generation = line.generation,
  admitted = line.admitted + entered, free_at_ms = free_at, outcomes = outcomes,
})
