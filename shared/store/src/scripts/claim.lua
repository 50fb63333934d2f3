--[[ claim: a batch of visitors asks for seats, and enters as far as seats, rate and order allow.

KEYS  line settings sessions records tokens entered rate rows door asked passed seatless traffic counts unattended there holds networks
ARGV  now_ms seen key_id region able_ms | reset_epoch draws number position rank won entered_at kind held_ms hold request_id issuer validity_seconds network seats_per_network only_logs max_session_seconds caller
Returns  now_ms reset_epoch generation admitted free_at_ms outcomes | outcome issued_at expires_at key_id issuer held_until_ms beyond_seats note
      free_at_ms: when those without a seat may find one, unless somebody leaves or an operator changes
      something before; nil: nobody can say.
      key_id names the key of new tokens; region: where the caller is; able_ms: for how long the caller has been able to claim for anybody
      ("" = always). Of each claim: reset epoch of its request id; how many
      draws its position takes into account; queue number; position ("" = it waits for its draw); rank at
      the door; whether it has won in a random room (0, 1); entry time (unix s); kind ("v" visitor's
      calls, "a" AWS-style); for how long its request stays open if there is no seat; whether it asks for
      a seat to be held for it, instead of entering (0, 1); request id; issuer; validity ("" = as the room says);
      the digest of its network ("" = nothing is limited), how many seats that may have ("" = any number), and
      whether that is only counted (0, 1); how long a session lasts at most ("" = no limit); who the caller is, as in
      lib/notes ("-" = nobody knows).
      Outcomes: entered (now), repeated (it entered before: the same token), not_served,
      no_seat (served, but none is free for it), held (until held_until_ms), position_expired,
      network_full (the network has its seats), session_ended, stranger (it entered before, and the session is bound
      to somebody else), foreign (its id is from before a reset, or of somebody let in without a number),
      uncounted (the room is suspended: it enters without a seat). beyond_seats: whether its network has more than
      its seats.
Keeps (2) seats and rate never over their limits; (3) one session and one token per request id;
      no number enters twice; (4) of those who keep asking the lowest enter first, whichever instance
      they ask, unless a seat has been free for long; no network has more seats than it may.
]]
local now_s = math.floor(now / 1000)
local line, settings = read_room(keys, now)
if not line then return no_room() end
local as_read = parts_of(line, {
  'admitted', 'aws_admitted', 'tokens_until', 'expired', 'promised', 'heard_at', 'free_since', 'free_least',
  'came_known', 'came_unknown', 'came_after_ms', 'entered_upto',
})

local waiting = line.queue_counter > line.serving_counter or have_some_asked(keys, now)
local free = 0
local open = is_open(settings, line)
if open then
  free = math.huge
elseif not is_held(settings, line) then
  free = math.min(seats_left(keys.sessions, settings, line, now),
    rate_left(keys.rate, settings.new_users_per_minute, now, waiting, held_rate(keys, settings, now)))
end

-- The claims, and what is kept of them, read together. In a block, since a script may have 200 local names.
local claims = {}
local records, holds, is_over, is_unattended, is_gone = {}, {}, {}, {}, {}
do
  local numbers, positions = {}, {}
  for i = FIRST_ITEM, #ARGV, ITEM_SIZE do
    local claim = item_at(i)
    claim.reset_epoch, claim.draws = tonumber(claim.reset_epoch), tonumber(claim.draws)
    claim.number, claim.position = tonumber(claim.number), tonumber(claim.position)
    claim.rank, claim.held_ms = tonumber(claim.rank), tonumber(claim.held_ms)
    claim.won, claim.hold, claim.entered_at = claim.won == '1', claim.hold == '1', tonumber(claim.entered_at)
    if claim.network == '' then claim.network = nil end
    claim.seats_per_network = claim.network and tonumber(claim.seats_per_network)
    claim.validity_seconds, claim.most = tonumber(claim.validity_seconds), tonumber(claim.max_session_seconds)
    claim.nth = #claims + 1
    claims[claim.nth], numbers[claim.nth], positions[claim.nth] = claim, claim.number, claim.position or 0
  end
  if #claims > 0 then
    records = redis.call('HMGET', keys.records, unpack(numbers))
    holds = redis.call('ZMSCORE', keys.holds, unpack(positions))
    is_over = get_bits(keys.entered, positions)
    if line.aws_joined > 0 or line.restored_at > 0 then is_unattended = get_bits(keys.unattended, numbers) end
    if line.left_pools > 0 then is_gone = get_bits(gone_from_pools(keys), numbers) end
  end
end

-- What this call gave each position; the records of those who enter; how many enter to whom a seat was held.
local taken, entering, called = {}, {}, 0
local outcomes, asking = {}, {}

local since_of = serving_times(keys, line)
local function has_expired(claim)
  -- A position beyond the serving counter cannot expire yet.
  local expiry = settings.position_expiry_seconds
  if not expiry or claim.position > line.serving_counter then return false end
  -- A visitor who comes back a little late takes the next free seat instead of a new place.
  if claim.kind == 'v' then expiry = 2 * expiry end
  -- While its caller could not claim, its time stood still.
  if (tonumber(args.able_ms) or math.huge) <= expiry * 1000 then return false end
  -- A place that has expired stays so, though its row be forgotten: `since_of` would find a later one.
  local is_over = claim.kind == 'a' and claim.position <= line.expired_position
  local served = is_over and served_when_over(line) or since_of(claim.position, claim.entered_at)
  if now_s - served <= expiry then return false end
  -- Whoever asked meanwhile has longer.
  return now_s - able_since(keys, line, expiry, served, claim.position, extension_of(claim.position, 'h')) > expiry
end

local function enter(claim)
  if claim.had_hold or taken[claim.position] then end_hold(keys, claim.position) end
  local validity = claim.kind == 'v' and settings.session_duration_seconds or claim.validity_seconds
    or settings.token_validity_seconds
  local record = {
    iat = now_s, exp = now_s + math.min(validity, claim.most or validity), status = 0, kind = claim.kind,
    kid = args.key_id, request_id = claim.request_id, issuer = claim.issuer,
  }
  if claim.kind == 'v' then NOTES.write(record, claim.most and now_s, string.match(claim.caller, '^%w+') or '', '') end
  entering[#entering + 1] =
    { number = claim.number, position = claim.position, record = record, network = claim.network,
      waited = math.max(now_s - claim.entered_at, 0) }
  if claim.seats_per_network then NETWORKS.take_seat(claim.network, claim.number, session_end(record.exp)) end
  if is_unattended[claim.number] then set_bit(keys.unattended, claim.number, 0) end
  line.entered_upto = math.max(line.entered_upto, claim.position)
  if claim.kind == 'a' then
    line.aws_admitted = line.aws_admitted + 1
    line.tokens_until = math.max(line.tokens_until, record.exp)
  end
  -- Its row expired while it waited for a seat, and counted it as expired, unless nobody was known to have its number: take
  -- that back.
  if claim.position <= line.expired_position then line.expired = math.max(line.expired - 1, 0) end
  return record
end

-- An outcome with the token that goes with it.
local function with_token(outcome, record)
  return { outcome = outcome, issued_at = record.iat, expires_at = record.exp, key_id = record.kid,
    issuer = record.issuer, note = record.kind and (NOTES.text_of(record)) or '' }
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
  -- It was bound by the first of the two.
  local record = { kind = 'v', request_id = first.note or '' }
  if claim.kind == 'v' and not NOTES.recognise(record, claim.caller) then return { outcome = 'stranger' } end
  return { outcome = 'repeated', issued_at = first.issued_at, expires_at = first.expires_at,
    key_id = first.key_id, issuer = first.issuer, note = first.note }
end

-- Whether a win counts: while chance decides. Since the caller looked the method may have become another.
local function counts_wins()
  if settings.counts_wins == nil then
    settings.counts_wins = cjson.decode(phase_texts(keys.settings, settings).settings).queueing_method == 'random'
  end
  return settings.counts_wins
end

-- The outcome of a claim that does not depend on seats; nil for one that asks for a seat. `text`: the record
-- of its number; `held_until`: see `holds`.
local function decided(claim, text, held_until)
  if claim.reset_epoch ~= line.reset_epoch or claim.number == 0 then
    return { outcome = 'foreign' }
  end
  LEFT_OUT.catch_up(keys.line, line, claim.number)
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
      if not is_live(keys, line, claim.number, now) then return { outcome = 'session_ended' } end
      local before = record.request_id
      if not NOTES.recognise(record, claim.caller) then return { outcome = 'stranger' } end
      local end_s = NOTES.end_at_most(record, claim.most)
      if record.request_id ~= before then redis.call('HSET', keys.records, claim.number, pack_record(record)) end
      renew(keys, settings, claim.number, record, args.key_id, now, end_s)
    end
    return with_token('repeated', record)
  end
  if taken[claim.position] then return take_again(claim) end
  if is_over[claim.position] or is_gone[claim.number] then return { outcome = 'session_ended' } end
  -- At a rate of 0 nobody enters either, unless everybody does.
  local enters_nobody = is_held(settings, line) or settings.new_users_per_minute == 0 and not open
  if held_until and held_until >= now and not enters_nobody then
    return take_held(claim, held_until)
  end
  if claim.won and not open and not is_held(settings, line) and not counts_wins() then
    claim.rank = claim.position
    if claim.position > line.serving_counter then
      leave_door(keys, { claim.position })
      return { outcome = 'not_served' }
    end
  end
  if has_expired(claim) then return { outcome = 'position_expired' } end
  -- Whoever may not sit does not stand at the door either: it would keep others from it.
  if NETWORKS.is_full(claim, line) then
    leave_door(keys, { claim.position })
    return { outcome = 'network_full' }
  end
  return nil
end

for nth, claim in ipairs(claims) do
  claim.had_hold = holds[nth] and true or false
  outcomes[nth] = decided(claim, records[nth], tonumber(holds[nth] or nil)) or false
  if not outcomes[nth] then asking[#asking + 1] = claim end
end
table.sort(asking, function(a, b) return a.rank < b.rank or a.rank == b.rank and a.nth < b.nth end)

-- Who asks for a hold and may not have one does not ask for a seat: it would keep others from it. Its place
-- does not expire while it asks, though its page counts down: a seat may be free that it need only take.
do
  local left, may_ask, is_given, waiting_on = nil, {}, {}, {}
  for _, claim in ipairs(asking) do
    if claim.hold and not left then left = open and 0 or holds_left(keys, settings, now) end
    if not claim.hold or is_given[claim.position] then
      may_ask[#may_ask + 1] = claim
    elseif left > 0 and not claim.had_hold then
      may_ask[#may_ask + 1], left, is_given[claim.position] = claim, left - 1, true
    else
      outcomes[claim.nth] = { outcome = 'no_seat' }
      waiting_on[#waiting_on + 1], waiting_on[#waiting_on + 2] = now, extension_of(claim.position, 'h')
    end
  end
  if #waiting_on > 0 then redis.call('ZADD', keys.seatless, unpack(waiting_on)) end
  asking = may_ask
end

local seated, held, free_at = 0, 0, nil
do
  -- Who asks for the first time since it was served has come to the door: the leader learns from it how many
  -- of those served come.
  local moves = #asking > 0 and moves_lately(keys) or {}
  local function note_who_came()
    local asked_by, counted = {}, {}
    for i, claim in ipairs(asking) do asked_by[i] = claim.position end
    local asked = redis.call('ZMSCORE', keys.asked, unpack(asked_by))
    local seatless = redis.call('ZMSCORE', keys.seatless, unpack(asked_by))
    for i, claim in ipairs(asking) do
      local came = asked[i] or seatless[i] or counted[claim.position]
      local asked_until = tonumber(asked[i] or nil)
      -- While its first request is open, it is still that request which asks.
      claim.came_before = came and not (asked_until and asked_until > now and asked_until % 1 ~= AGAIN)
      if not came and claim.had_hold then note_turn(keys, line, settings, true) end
      counted[claim.position] = true
      if not came and (claim.kind == 'v' or is_there(keys, LINE, claim.position, now)) then
        line.came_known = line.came_known + 1
      elseif not came then
        line.came_unknown = line.came_unknown + 1
        local served = served_at(moves, claim.position)
        line.came_after_ms = line.came_after_ms + (served > 0 and math.max(now - served, 0) or 0)
      end
    end
    line.heard_at = now
  end

  -- A free seat is taken, or held, for the claim.
  local function take(claim)
    seated = seated + 1
    if claim.hold then
      held = held + 1
      local until_ms = hold_seat(keys, line, settings, claim.number, claim.position, now)
      if claim.seats_per_network then NETWORKS.take_seat(claim.network, claim.number, until_ms) end
      taken[claim.position] = { outcome = 'held', held_until_ms = until_ms }
    else
      taken[claim.position] = with_token('entered', enter(claim))
    end
    return taken[claim.position]
  end

  local function let_in()
    local call = { keys = keys, line = line, now = now, free = free, asking = asking, moves = moves, taken = taken }
    wait_for_others(call)
    local highest = highest_rank_with_seat(call, false)
    local long, open_long = free_for(call, FREE_LONG_MS), free_for(call, FREE_OPEN_MS)
    local gone, refused, found_none, here, passing = {}, {}, {}, {}, 0
    for nth, claim in ipairs(asking) do
      local ripe, is_next = TURNS.ripe_before_others(call, claim, highest), claim.rank <= highest
      local may_pass = not is_next and (long > 0 and has_been_ripe(call, ripe, FREE_LONG_MS)
          and not TURNS.would_pass_well(call, claim, highest, long)
        or open_long > 0 and has_been_ripe(call, ripe, FREE_OPEN_MS) and TURNS.is_surely_next(call, claim))
      if is_next and ripe > now and seated < free and is_nobody_awaited(call, claim, nth) then ripe = 0 end
      if taken[claim.position] then
        outcomes[claim.nth] = take_again(claim)
      elseif NETWORKS.is_full(claim, line) then
        outcomes[claim.nth] = { outcome = 'network_full' }
        gone[#gone + 1] = claim.position
      elseif seated < free and (is_next or may_pass) and ripe <= now then
        -- The first to be taken are those that have been free for longest.
        long, open_long = long - 1, open_long - 1
        if not is_next then passing = passing + 1 end
        outcomes[claim.nth] = take(claim)
        gone[#gone + 1] = claim.position
      else
        outcomes[claim.nth] = { outcome = 'no_seat' }
        refused[#refused + 1], here[claim.position] = claim, true
        found_none[#found_none + 1] = { claim = claim, ripe = ripe, is_next = is_next }
      end
    end
    ask_on(keys, refused, now)
    note_passed(call, passing, here)
    leave_door(keys, gone)
    note_left(call, free - seated)
    if free > seated then free_at = free_later(call, found_none) end
  end
  if #asking > 0 then
    note_who_came()
    let_in()
  end
end

seat_all(keys, entering)
NETWORKS.leave_line_now(entering)
-- A hold takes its part of the even spread, and is an admission once its visitor comes.
local rate, spread = settings.new_users_per_minute, waiting and not open
if spread then rate_pace(keys.rate, rate, now, held) end
rate_take(keys.rate, rate, now, spread, seated - held)
rate_take(keys.rate, rate, now, false, called)
line.promised = math.max(line.promised - seated, 0)
line.admitted = line.admitted + #entering
if #entering > 0 then
  redis.call('HINCRBY', keys.traffic, math.floor(now / 60000) .. '.a', #entering)
  local waits = {}
  for _, each in ipairs(entering) do waits[each.waited] = (waits[each.waited] or 0) + 1 end
  COUNTS.entered(keys.counts, now, waits, args.region)
end
write_changes(keys.line, line, as_read)
if is_held(settings, line) then
  free_at = nil
elseif #asking > seated and free <= seated then
  local seat_at = seat_free_at(keys.sessions, settings, line, now)
  local rate_at = rate_free_at(keys.rate, rate, now, waiting, held_rate(keys, settings, now))
  free_at = seat_at and rate_at and math.max(seat_at, rate_at)
end
for nth, outcome in ipairs(outcomes) do
  outcome.beyond_seats = claims[nth].is_beyond
  outcomes[nth] = reply_item(outcome)
end
return seal(reply({
  now_ms = now, reset_epoch = line.reset_epoch, generation = line.generation, admitted = line.admitted,
  free_at_ms = free_at, outcomes = outcomes,
}))
