--[[ claim: a batch of visitors asks for seats, and enters as far as seats, rate and order allow.

KEYS  line settings sessions records tokens entered rate rows door asked passed seatless traffic unattended there holds
ARGV  now_ms key_id | reset_epoch draws number position rank won entered_at kind held_ms hold request_id issuer validity_seconds
Returns  now_ms reset_epoch generation admitted free_at_ms outcomes | outcome issued_at expires_at key_id issuer held_until_ms
      free_at_ms: when those without a seat may find one, unless somebody leaves or an operator changes
      something before; nil: nobody can say.
      key_id names the key of new tokens. Of each claim: reset epoch of its request id; how many
      draws its position takes into account; queue number; position ("" = it waits for its draw); rank at
      the door; whether it has won in a random room (0, 1); entry time (unix s); kind ("v" visitor's
      calls, "a" AWS-style); for how long its request stays open if there is no seat; whether it asks for
      a seat to be held for it, instead of entering (0, 1); request id; issuer; validity ("" = as the room says).
      Outcomes: entered (now), repeated (it entered before: the same token), not_served,
      no_seat (served, but none is free for it), held (until held_until_ms), position_expired,
      session_ended, foreign (its id is from before a reset, or of somebody let in without a number),
      uncounted (the room is suspended: it enters without a seat).
Keeps (2) seats and rate never over their limits; (3) one session and one token per request id;
      no number enters twice; (4) of those who keep asking the lowest enter first, whichever instance
      they ask, unless a seat has been free for long.
]]
local now = time_ms(ARGV[1])
local now_s = math.floor(now / 1000)
local line, settings = read_room(keys, now)
if not line then return no_room() end

local waiting = line.queue_counter > line.serving_counter or have_some_asked(keys, now)
local free = 0
local open = is_open(settings, line)
if open then
  free = math.huge
elseif not is_held(settings, line) then
  free = math.min(seats_left(keys.sessions, settings, line, now),
    rate_left(keys.rate, settings.new_users_per_minute, now, waiting, held_rate(keys, settings, now)))
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

-- What this call gave each position. `called`: how many entered to whom a seat was held.
local taken, called = {}, 0

local function enter(claim)
  if claim.had_hold or taken[claim.position] then end_hold(keys, claim.position) end
  local validity = claim.kind == 'v' and settings.session_duration_seconds or claim.validity_seconds
    or settings.token_validity_seconds
  local record = {
    iat = now_s, exp = now_s + validity, status = 0, kind = claim.kind, kid = args.key_id,
    request_id = claim.request_id, issuer = claim.issuer,
  }
  seat(keys, claim.number, claim.position, record)
  if get_bit(keys.unattended, claim.number) then set_bit(keys.unattended, claim.number, 0) end
  if claim.kind == 'a' then redis.call('HINCRBY', keys.line, 'aws_admitted', 1) end
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

-- A seat is held for the claim until `held_until`.
local function take_held(claim, held_until)
  if not claim.hold then
    note_turn(keys, line, settings, false)
    called = called + 1
    taken[claim.position] = with_token('entered', enter(claim))
  else
    taken[claim.position] = { outcome = 'held', held_until_ms = held_until }
  end
  return taken[claim.position]
end

-- A claim of the same visitor comes a second time, in one call.
local function take_again(claim)
  local first = taken[claim.position]
  if first.outcome == 'held' then return take_held(claim, first.held_until_ms) end
  return { outcome = 'repeated', issued_at = first.issued_at, expires_at = first.expires_at,
    key_id = first.key_id, issuer = first.issuer }
end

-- The outcome of a claim that does not depend on seats; nil for one that asks for a seat. `text`: the record
-- of its number; `held_until`: see `holds`.
local function decided(claim, text, held_until)
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
  local record = unpack_record(text)
  if record then
    if record.status ~= 0 then return { outcome = 'session_ended' } end
    if record.kind == 'v' then
      if not is_live(keys, claim.number, now) then return { outcome = 'session_ended' } end
      renew(keys, settings, claim.number, record, args.key_id, now)
    end
    return with_token('repeated', record)
  end
  if taken[claim.position] then return take_again(claim) end
  if get_bit(keys.entered, claim.position) then return { outcome = 'session_ended' } end
  if held_until and held_until >= now and not is_held(settings, line) then
    return take_held(claim, held_until)
  end
  if has_expired(claim) then return { outcome = 'position_expired' } end
  return nil
end

local claims, numbers, positions = {}, {}, {}
for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
  local claim = item_at(i)
  claim.reset_epoch, claim.draws = tonumber(claim.reset_epoch), tonumber(claim.draws)
  claim.number, claim.position = tonumber(claim.number), tonumber(claim.position)
  claim.rank, claim.held_ms = tonumber(claim.rank), tonumber(claim.held_ms)
  claim.won, claim.hold, claim.entered_at = claim.won == '1', claim.hold == '1', tonumber(claim.entered_at)
  claim.validity_seconds = tonumber(claim.validity_seconds)
  claim.nth = #claims + 1
  claims[claim.nth], numbers[claim.nth], positions[claim.nth] = claim, claim.number, claim.position or 0
end
local outcomes, asking = {}, {}
local records = #numbers > 0 and redis.call('HMGET', keys.records, unpack(numbers)) or {}
local holds = #numbers > 0 and redis.call('ZMSCORE', keys.holds, unpack(positions)) or {}
for nth, claim in ipairs(claims) do
  claim.had_hold = holds[nth] and true or false
  outcomes[nth] = decided(claim, records[nth], tonumber(holds[nth] or nil)) or false
  if not outcomes[nth] then asking[#asking + 1] = claim end
end
table.sort(asking, function(a, b) return a.rank < b.rank or a.rank == b.rank and a.nth < b.nth end)

-- Who asks for a hold and may not have one does not ask for a seat: it would keep others from it.
local function refuse_holds()
  local left, may_ask, is_given = nil, {}, {}
  for _, claim in ipairs(asking) do
    if claim.hold and not left then left = open and 0 or holds_left(keys, settings, now) end
    if not claim.hold or is_given[claim.position] then
      may_ask[#may_ask + 1] = claim
    elseif left > 0 and not claim.had_hold then
      may_ask[#may_ask + 1], left, is_given[claim.position] = claim, left - 1, true
    else
      outcomes[claim.nth] = { outcome = 'no_seat' }
    end
  end
  asking = may_ask
end
refuse_holds()

-- Who asks for the first time since it was served has come to the door: the leader learns from it how many
-- of those served come.
local moves = #asking > 0 and moves_lately(keys) or {}
local function note_who_came()
  local known, unknown, after_ms, positions = 0, 0, 0, {}
  for i, claim in ipairs(asking) do positions[i] = claim.position end
  local asked = redis.call('ZMSCORE', keys.asked, unpack(positions))
  local seatless = redis.call('ZMSCORE', keys.seatless, unpack(positions))
  local counted = {}
  for i, claim in ipairs(asking) do
    local came = asked[i] or seatless[i] or counted[claim.position]
    local asked_until = tonumber(asked[i] or nil)
    -- While its first request is open, it is still that request which asks.
    claim.came_before = came and not (asked_until and asked_until > now and asked_until % 1 ~= AGAIN)
    if not came and claim.had_hold then note_turn(keys, line, settings, true) end
    counted[claim.position] = true
    if not came and (claim.kind == 'v' or is_there(keys, LINE, claim.position, now)) then
      known = known + 1
    elseif not came then
      unknown = unknown + 1
      local served = served_at(moves, claim.position)
      after_ms = after_ms + (served > 0 and math.max(now - served, 0) or 0)
    end
  end
  if known > 0 then redis.call('HINCRBY', keys.line, 'came_known', known) end
  if unknown > 0 then
    redis.call('HINCRBY', keys.line, 'came_unknown', unknown)
    redis.call('HINCRBY', keys.line, 'came_after_ms', after_ms)
  end
  redis.call('HSET', keys.line, 'heard_at', now)
end

-- When a position has been served for long enough that everyone before it can have asked, too, ms.
local function ripe_at(position, is_aws_style)
  if free == math.huge or position > line.serving_counter then return 0 end
  local served = served_at(moves, position)
  local period = is_aws_style and math.max(line.unknown_period_ms, WEB_PERIOD_MS) or WEB_PERIOD_MS
  return served > 0 and served + period or 0
end

-- The lowest `count` at the door, at most, as it is before anybody of this call enters or asks on: read once.
local looked_at, before = math.min(free, MOST_LOOKED_AT), nil
local function lowest_before(count)
  before = before or first_at_door(keys, looked_at + #asking + DOOR_AHEAD, now)
  local lowest = {}
  for i = 1, math.min(count, #before) do lowest[i] = before[i] end
  return lowest
end

-- Of everyone who asks, here and at the door, the rank up to which there are seats. `is_sure`: of those at the
-- door only whoever surely still asks counts.
local function highest_rank_with_seat(is_sure)
  if free >= redis.call('ZCARD', keys.door) + #asking then return math.huge end
  local rank_of = {}
  for _, claim in ipairs(asking) do rank_of[claim.position] = claim.rank end
  local lowest = lowest_before(looked_at + #asking)
  for _, other in ipairs(lowest) do
    if not is_sure or surely_asks(other, line, now) then
      rank_of[other.position] = rank_of[other.position] or other.rank
    end
  end
  local ranks = {}
  for _, rank in pairs(rank_of) do ranks[#ranks + 1] = rank end
  table.sort(ranks)
  local highest = ranks[math.min(free, #ranks)] or -1
  -- Of those behind who were not looked at nobody knows how many ask.
  local is_all = #lowest < looked_at + #asking
  return is_all and highest or math.min(highest, lowest[#lowest].rank)
end

-- So many seats went to somebody higher than those who had a right to them and were too slow: these, the
-- lowest at the door of whom nobody knows whether they still ask, and then the lowest, delay nobody again.
local function note_passed(seats, here)
  local lowest = first_at_door(keys, looked_at + #asking, now)
  for _, is_sure in ipairs({ false, true }) do
    for _, other in ipairs(lowest) do
      local is_passed = surely_asks(other, line, now) == is_sure and not taken[other.position] and not here[other.position]
      if seats > 0 and is_passed then
        redis.call('ZREM', keys.door, other.position)
        redis.call('ZADD', keys.passed, now, other.position)
        seats = seats - 1
      end
    end
  end
end

-- How many seats have been free for so long, while others asked who have a right to them and did not come:
-- the least that any call left free since `free_since`.
local function free_for(ms)
  if at_door(keys, now) == 0 then line.free_since = 0 end
  local since = line.free_since
  return since > 0 and now - since >= ms and math.min(line.free_least, free) or 0
end

-- Whether somebody with a browser at the door would soon pass those who are next and not ripe: clients of the
-- AWS-style calls, who have longer to ask.
local function is_web_waiting()
  for _, claim in ipairs(asking) do
    if claim.kind == 'v' then return true end
  end
  for _, other in ipairs(lowest_before(free + DOOR_AHEAD)) do
    if not get_bit(keys.unattended, other.position) then return true end
  end
  return false
end

-- Until when one of those who have a right to a free seat, of whom few were called, is waited for before somebody
-- else may have it, ms: until it keeps asking no more. Whose request stays open asks by itself, and soon.
local function waited_for(other, asked_at)
  if other.asked_until >= now + FREE_LONG_MS then
    local is_aws_style = get_bit(keys.unattended, other.position)
    return asked_at >= ripe_at(other.position, is_aws_style) and asked_at + FREE_OPEN_MS or 0
  end
  return math.floor(other.asked_until) + ASKS_AGAIN_MS
end

-- When everyone of `lowest`, who have a right to the free seats, is ripe, ms, and is waited for no more: a seat that
-- waits for them until then is not left free by them.
local function all_ripe_at(lowest)
  local latest, positions = 0, {}
  for i, other in ipairs(lowest) do
    local served = other.position <= line.serving_counter and served_at(moves, other.position) or 0
    latest = math.max(latest, served > 0 and served + WEB_PERIOD_MS or 0)
    positions[i] = other.position
  end
  if #lowest == 0 or not are_few(line) then return latest end
  for i, asked_at in ipairs(redis.call('ZMSCORE', keys.seatless, unpack(positions))) do
    latest = math.max(latest, waited_for(lowest[i], tonumber(asked_at or nil) or 0) - FREE_OPEN_MS)
  end
  return latest
end

-- Those who have a right to the free seats may be others by now.
local function wait_for_others()
  local is_here, others = {}, {}
  for _, claim in ipairs(asking) do is_here[claim.position] = true end
  for _, other in ipairs(lowest_before(looked_at)) do
    if not is_here[other.position] then others[#others + 1] = other end
  end
  line.free_since = math.max(line.free_since, all_ripe_at(others))
end

local function note_left(left)
  local waits_until = left > 0 and left < math.huge
    and all_ripe_at(first_at_door(keys, math.min(left, MOST_LOOKED_AT), now)) or 0
  if free == math.huge or left <= 0 then
    line.free_since, line.free_least = 0, 0
  elseif line.free_since == 0 or now - line.free_since >= FREE_LONG_MS then
    line.free_since, line.free_least = math.max(now, waits_until), left
  else
    line.free_since = math.max(line.free_since, waits_until)
    line.free_least = math.min(line.free_least, left)
  end
  redis.call('HSET', keys.line, 'free_since', line.free_since, 'free_least', line.free_least)
end

local seated, held, free_at = 0, 0, nil
-- A free seat is taken, or held, for the claim.
local function take(claim)
  seated = seated + 1
  if claim.hold then
    held = held + 1
    local until_ms = hold_seat(keys, line, settings, claim.number, claim.position, now)
    taken[claim.position] = { outcome = 'held', held_until_ms = until_ms }
  else
    taken[claim.position] = with_token('entered', enter(claim))
  end
  return taken[claim.position]
end

local highest_sure = nil
-- Whether a seat is for the claim if only those who surely still ask are before it.
local function is_surely_next(claim)
  highest_sure = highest_sure or highest_rank_with_seat(true)
  return claim.rank <= highest_sure
end

local function let_in()
  if free > 0 and free < math.huge and line.free_since > 0 then wait_for_others() end
  local long, highest = free_for(FREE_LONG_MS), free > 0 and highest_rank_with_seat(false) or -1
  local open_long = free_for(FREE_OPEN_MS)
  local unripe = free_for(FREE_UNRIPE_MS)
  local is_passable = free > 0 and line.unknown_period_ms > WEB_PERIOD_MS and is_web_waiting()
  if not is_passable then unripe = 0 end
  local gone, refused, waiting_for, here, passing = {}, {}, {}, {}, 0
  for _, claim in ipairs(asking) do
    local ripe, is_next = ripe_at(claim.position, claim.kind == 'a'), claim.rank <= highest
    local may_be_unripe = is_next and unripe > 0 and claim.kind ~= 'v'
    local may_pass = long > 0 or open_long > 0 and is_surely_next(claim)
    if taken[claim.position] then
      outcomes[claim.nth] = take_again(claim)
    elseif seated < free and (is_next or may_pass) and (ripe <= now or may_be_unripe) then
      -- The first to be taken are those that have been free for longest.
      long, open_long = long - 1, open_long - 1
      if not is_next then passing = passing + 1 end
      if ripe > now then unripe = unripe - 1 end
      outcomes[claim.nth] = take(claim)
      gone[#gone + 1] = claim.position
    else
      outcomes[claim.nth] = { outcome = 'no_seat' }
      refused[#refused + 1], here[claim.position] = claim, true
      waiting_for[#waiting_for + 1] = { claim = claim, ripe = ripe, is_next = is_next }
    end
  end
  ask_on(keys, refused, now)
  if passing > 0 then note_passed(passing, here) end
  leave_door(keys, gone)
  note_left(free - seated)
  -- Whoever is next waits until it is ripe; the others until a seat has been free for long.
  for _, other in ipairs(free > seated and waiting_for or {}) do
    local passes_after = is_surely_next(other.claim) and FREE_OPEN_MS or FREE_LONG_MS
    local at = other.is_next and other.ripe or math.max(other.ripe, line.free_since + passes_after)
    if other.is_next and is_passable then at = math.min(at, line.free_since + FREE_UNRIPE_MS) end
    at = math.max(at, now + 1)
    free_at = math.min(free_at or at, at)
  end
end
if #asking > 0 then
  note_who_came()
  let_in()
end

if seated > 0 then redis.call('HSET', keys.line, 'promised', math.max(line.promised - seated, 0)) end
-- A hold takes its part of the even spread, and is an admission once its visitor comes.
local rate, spread = settings.new_users_per_minute, waiting and not open
if spread then rate_pace(keys.rate, rate, now, held) end
rate_take(keys.rate, rate, now, spread, seated - held)
rate_take(keys.rate, rate, now, false, called)
local entered = seated - held + called
if entered > 0 then
  redis.call('HINCRBY', keys.line, 'admitted', entered)
  redis.call('HINCRBY', keys.traffic, math.floor(now / 60000) .. '.a', entered)
end
if is_held(settings, line) then
  free_at = nil
elseif #asking > seated and free <= seated then
  local seat_at = seat_free_at(keys.sessions, settings, line, now)
  local rate_at = rate_free_at(keys.rate, rate, now, waiting, held_rate(keys, settings, now))
  free_at = seat_at and rate_at and math.max(seat_at, rate_at)
end
for nth, outcome in ipairs(outcomes) do outcomes[nth] = reply_item(outcome) end
return reply({
  now_ms = now, reset_epoch = line.reset_epoch, generation = line.generation,
  admitted = line.admitted + entered, free_at_ms = free_at, outcomes = outcomes,
})
